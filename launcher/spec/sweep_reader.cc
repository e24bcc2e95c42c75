#include "launcher/spec/sweep_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "common/base/nearest.h"
#include "common/domain/expression.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/keys.h"
#include "launcher/spec/known_word.h"
#include "launcher/spec/literal_text.h"
#include "launcher/spec/pipeline_tree.h"
#include "launcher/spec/search_space_reader.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 6> kOfSweep = {
    "sampling_algorithm", "search_space", "objective", "early_termination", "limits", "trial"};
constexpr std::array<std::string_view, 5> kOfTrial = {"command", "code", "environment",
                                                      "environment_variables", "distribution"};

template <typename Words>
bool is_one_of(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

YamlNode mapping_with(const Place& place, std::vector<YamlEntry> entries) {
  YamlNode node;
  node.kind = Kind::mapping;
  node.place = place;
  node.entries = std::move(entries);
  return node;
}

bool is_component(const YamlNode& trial) {
  if (trial.kind == Kind::scalar) return true;
  return trial.find("inputs") != nullptr || trial.find("outputs") != nullptr ||
         trial.find("type") != nullptr || trial.find("$schema") != nullptr;
}

class SweepReader {
 public:
  SweepReader(const Source& source, YamlNode& own, Faults& faults, Notes& notes)
      : source_(source), own_(own), faults_(faults), notes_(notes) {}

  ReadSweep read() {
    split();
    place_trial();
    check_shapes(source_, section_, mine_, sweep_keys());
    for (const std::string_view key : kOfTrial)
      if (mine_.is_spoilt(join("trial", key))) faults_.spoil(key);
    if (mine_.is_spoilt("trial") && at("trial") == nullptr) faults_.spoil("command");
    SweepSpec& spec = read_.spec;
    read_sampling(spec);
    read_space(spec);
    read_objective(spec.objective);
    read_termination(spec);
    read_limits(spec.limits);
    merge_trial();
    check_whole(spec);
    read_.is_good = mine_.empty() && !lacks_mistyped_;
    faults_.add_all(mine_);
    return std::move(read_);
  }

 private:
  void fault(const Place& place, const std::string& message,
             ErrorCode code = ErrorCode::invalid_argument) {
    mine_.add(place, source_.error(place, message, code));
  }

  // ---- the keys --------------------------------------------------------------------------------
  void split() {
    section_ = mapping_with(own_.place, {});
    std::erase_if(own_.entries, [&](YamlEntry& entry) {
      if (is_one_of(kOfSweep, entry.key)) {
        section_.entries.push_back(std::move(entry));
        return true;
      }
      return entry.key == "type" || entry.key == "$schema" || refuse_of_trial(entry);
    });
  }

  bool refuse_of_trial(const YamlEntry& entry) {
    const bool is_of_trial = is_one_of(kOfTrial, entry.key);
    if (is_of_trial)
      fault(entry.place, fmt::format("'{0}' belongs to the trial of a sweep; write trial: {{{0}: "
                                     "…}}",
                                     entry.key));
    if (entry.key == "component")
      fault(entry.place, "'component': a sweep names its component as its 'trial'");
    return is_of_trial || entry.key == "component";
  }

  const YamlNode* at(std::string_view path) const {
    const YamlNode* node = &section_;
    while (true) {
      const auto dot = path.find('.');
      const YamlEntry* entry = node->find(path.substr(0, dot));
      if (entry == nullptr || entry->value.kind == Kind::null) return nullptr;
      node = &entry->value;
      if (dot == std::string_view::npos) return node;
      path.remove_prefix(dot + 1);
    }
  }

  std::optional<int> whole(std::string_view path) const {
    const YamlNode* node = at(path);
    return node == nullptr ? std::nullopt : to_whole_number(node->text);
  }

  // nullopt behind a fault.
  std::optional<std::string> word(const YamlNode& node, std::string_view path) {
    auto read = known_word(source_, node, path, path);
    if (read) return *std::move(read);
    mine_.add(node.place, read.error());
    return std::nullopt;
  }

  std::optional<double> number(std::string_view path) {
    const YamlNode* node = at(path);
    if (node == nullptr) return std::nullopt;
    const std::string text = literal_text(*node);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && std::isfinite(value)) return value;
    fault(node->place, fmt::format("'{}': '{}' is not a number", path, node->text));
    return std::nullopt;
  }

  // That the sweep lacks a key, unless the key is there and wrong, or mistyped: then its own fault
  // is said with all unknown keys.
  void require(std::string_view path, const std::string& message) {
    if (mine_.is_spoilt(path)) return;
    const YamlEntry* section = section_.find(path.substr(0, path.find('.')));
    const bool is_mistyped =
        std::any_of(own_.entries.begin(), own_.entries.end(), [&](const YamlEntry& entry) {
          return job_keys().find(entry.key) == nullptr && nearest(entry.key, kOfSweep) == path;
        });
    if (is_mistyped)
      lacks_mistyped_ = true;
    else
      fault(section == nullptr ? own_.place : section->place, message);
  }

  // ---- how values are chosen -------------------------------------------------------------------
  void read_sampling(SweepSpec& spec) {
    const YamlNode* node = at("sampling_algorithm");
    if (node == nullptr)
      return require("sampling_algorithm",
                     "a sweep needs a 'sampling_algorithm': random, grid or bayesian");
    const bool is_word = node->kind == Kind::scalar;
    const YamlNode* type = is_word ? node : at("sampling_algorithm.type");
    if (type == nullptr)
      return require("sampling_algorithm.type",
                     "'sampling_algorithm' needs a 'type': random, grid or bayesian");
    const auto chosen = word(*type, is_word ? "sampling_algorithm" : "sampling_algorithm.type");
    if (!chosen) return;
    if (*chosen == "random") return read_random(spec, is_word);
    if (!is_word)
      for (const YamlEntry& entry : node->entries)
        if (entry.key != "type")
          fault(entry.place,
                fmt::format("'sampling_algorithm.{}' is a key of random, not of {}; leave it out",
                            entry.key, *chosen));
    if (*chosen == "grid")
      spec.sampling = GridSampling{};
    else
      spec.sampling = BayesianSampling{};
  }

  void read_random(SweepSpec& spec, bool is_word) {
    RandomSampling random;
    if (!is_word) {
      random.seed = read_seed();
      if (const YamlNode* rule = at("sampling_algorithm.rule"))
        if (word(*rule, "sampling_algorithm.rule") == "sobol")
          random.rule = RandomSampling::Rule::sobol;
      if (const YamlNode* base = at("sampling_algorithm.logbase"))
        random.log_base = read_base(*base).value_or(random.log_base);
    }
    spec.sampling = random;
  }

  std::optional<std::int64_t> read_seed() {
    const YamlNode* node = at("sampling_algorithm.seed");
    if (node == nullptr) return std::nullopt;
    const std::string text = literal_text(*node);
    std::int64_t seed = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (failure == std::errc{} && end == text.data() + text.size()) return seed;
    fault(node->place,
          fmt::format("'sampling_algorithm.seed': '{}' is not a whole number", node->text));
    return std::nullopt;
  }

  std::optional<double> read_base(const YamlNode& node) {
    if (lower_case(node.text) == "e") return std::nullopt;
    const auto base = number("sampling_algorithm.logbase");
    if (!base || (*base > 0 && *base != 1)) return base;
    fault(node.place, fmt::format("'sampling_algorithm.logbase': {} is not a base; write e, or a "
                                  "number above 0 other than 1",
                                  node.text));
    return std::nullopt;
  }

  void read_space(SweepSpec& spec) {
    const YamlNode* node = at("search_space");
    if (node == nullptr)
      return require("search_space",
                     "a sweep needs a 'search_space', such as {lr: {type: uniform, min_value: 0.1, "
                     "max_value: 1}}");
    ReadSpace read = read_search_space(source_, *node, spec.sampling, mine_, notes_);
    spec.space = std::move(read.space);
    read_.places = std::move(read.places);
  }

  // ---- what is sought --------------------------------------------------------------------------
  void read_objective(Objective& objective) {
    if (at("objective") == nullptr)
      return require("objective",
                     "a sweep needs an 'objective': {goal: minimize, primary_metric: NAME}");
    if (const YamlNode* goal = at("objective.goal")) {
      if (word(*goal, "objective.goal") == "maximize") objective.goal = Goal::maximize;
    } else {
      require("objective.goal", "'objective' needs a 'goal': minimize or maximize");
    }
    const YamlNode* metric = at("objective.primary_metric");
    if (metric != nullptr && !metric->text.empty())
      objective.metric = metric->text;
    else
      require("objective.primary_metric",
              "'objective' needs a 'primary_metric': the name under which trials log it, as in "
              "mlflow.log_metric(NAME, value)");
  }

  void read_termination(SweepSpec& spec) {
    if (at("early_termination") == nullptr) return;
    const YamlNode* type = at("early_termination.type");
    if (type == nullptr)
      return require("early_termination.type",
                     "'early_termination' needs a 'type': bandit, median_stopping or "
                     "truncation_selection");
    const auto chosen = word(*type, "early_termination.type");
    if (!chosen || !check_keys_of_policy(*chosen)) return;
    EarlyTermination early;
    // Azure's SDK writes 0 where nothing is given.
    early.interval = std::max(whole("early_termination.evaluation_interval").value_or(1), 0);
    if (early.interval == 0) early.interval = 1;
    early.delay = whole("early_termination.delay_evaluation").value_or(0);
    for (const std::string_view key : {"evaluation_interval", "delay_evaluation"})
      if (whole(join("early_termination", key)).value_or(0) < 0)
        fault(at(join("early_termination", key))->place,
              fmt::format("'early_termination.{}': must not be negative", key));
    auto policy = read_policy(*chosen);
    if (!policy) return;
    if (const Status good = check_policy(*policy); !good) {
      const std::string& message = good.error().message;
      const std::string path = "early_termination." + message.substr(0, message.find(':'));
      return fault(at(path)->place, fmt::format("'{}'{}", path, message.substr(message.find(':'))));
    }
    early.policy = *std::move(policy);
    spec.early_termination = std::move(early);
  }

  bool check_keys_of_policy(std::string_view type) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOwn = {
        {{"slack_factor", "bandit"},
         {"slack_amount", "bandit"},
         {"truncation_percentage", "truncation_selection"}}};
    bool is_good = true;
    for (const auto& [key, owner] : kOwn) {
      const YamlEntry* entry = at("early_termination")->find(key);
      if (entry == nullptr || owner == type || entry->value.kind == Kind::null) continue;
      is_good = false;
      fault(entry->place, fmt::format("'early_termination.{}' is a key of {}, not of {}; leave it "
                                      "out",
                                      key, owner, type));
    }
    return is_good;
  }

  std::optional<TerminationPolicy> read_policy(std::string_view type) {
    if (type == "bandit") return read_bandit();
    if (type == "median_stopping") return MedianStoppingPolicy{};
    if (const auto percentage = whole("early_termination.truncation_percentage"))
      return TruncationPolicy{*percentage};
    require("early_termination.truncation_percentage",
            "'early_termination' of type truncation_selection needs 'truncation_percentage', 1 to "
            "99: of so many in a hundred trials the worst are stopped");
    return std::nullopt;
  }

  // Azure's SDK writes both, and 0 for the one that is not given.
  std::optional<TerminationPolicy> read_bandit() {
    using Slack = BanditPolicy::Slack;
    const auto factor = number("early_termination.slack_factor");
    const auto amount = number("early_termination.slack_amount");
    if (!factor && !amount) {
      const bool is_given = at("early_termination.slack_factor") != nullptr ||
                            at("early_termination.slack_amount") != nullptr;
      if (is_given) return std::nullopt;  // its fault is said
      require("early_termination.slack_factor",
              "'early_termination' of type bandit needs 'slack_factor' or 'slack_amount': how much "
              "worse than the best a trial may be");
      return std::nullopt;
    }
    if (factor && amount && *factor != 0 && *amount != 0) {
      fault(at("early_termination.slack_amount")->place,
            "'early_termination.slack_amount' cannot be combined with 'slack_factor'; leave one of "
            "them out");
      return std::nullopt;
    }
    const bool is_factor = factor && (*factor != 0 || !amount);
    return is_factor ? BanditPolicy{Slack::factor, *factor} : BanditPolicy{Slack::amount, *amount};
  }

  // ---- limits ----------------------------------------------------------------------------------
  void read_limits(SweepLimits& limits) {
    if (const auto total = trials("limits.max_total_trials")) {
      limits.max_total_trials = *total;
    } else if (at("limits.max_total_trials") == nullptr && mine_.empty() &&
               !std::holds_alternative<GridSampling>(read_.spec.sampling)) {
      const YamlEntry* section = section_.find("limits");
      notes_.push_back(fmt::format("{}: limits.max_total_trials is absent: the sweep has {} trials",
                                   source_.where(section == nullptr ? own_.place : section->place),
                                   limits.max_total_trials));
    }
    limits.max_concurrent_trials = trials("limits.max_concurrent_trials").value_or(0);
    if (const auto timeout = duration("limits.timeout")) limits.timeout = *timeout;
    const YamlNode* of_trial = at("limits.trial_timeout");
    if (of_trial == nullptr || !duration("limits.trial_timeout")) return;
    YamlNode section = mapping_with(of_trial->place, {{"timeout", of_trial->place, *of_trial}});
    own_.entries.push_back({"limits", of_trial->place, std::move(section)});
  }

  std::optional<int> trials(std::string_view path) {
    const auto count = whole(path);
    if (!count || (*count >= 1 && *count <= kMaxSweepTrials)) return count;
    fault(at(path)->place,
          fmt::format("'{}': is {}; must be 1 to {}", path, *count, kMaxSweepTrials));
    return std::nullopt;
  }

  std::optional<Duration> duration(std::string_view path) {
    const YamlNode* node = at(path);
    if (node == nullptr) return std::nullopt;
    const Duration read = parse_duration(node->text);
    if (read > Duration::zero()) return read;
    fault(node->place, fmt::format("'{}': must be more than 0 seconds", path));
    return std::nullopt;
  }

  // ---- the trial -------------------------------------------------------------------------------
  // A component's file, or what declares inputs, is the component of the command.
  void place_trial() {
    const auto trial = std::find_if(section_.entries.begin(), section_.entries.end(),
                                    [](const YamlEntry& entry) { return entry.key == "trial"; });
    if (trial == section_.entries.end() || trial->value.kind == Kind::null) {
      require("trial",
              "a sweep needs a 'trial': {command: …}, or the file of a component, such as "
              "./train.yml");
      return faults_.spoil("command");
    }
    if (!is_component(trial->value)) return;
    own_.entries.push_back({"component", trial->place, std::move(trial->value)});
    section_.entries.erase(trial);
  }

  // The trial's keys come over those of the sweep: both may have resources.
  void merge_trial() {
    const YamlNode* trial = at("trial");
    if (trial == nullptr || trial->kind != Kind::mapping) return;
    if (trial->find("command") == nullptr && !mine_.is_spoilt("trial.command")) {
      fault(trial->place, "the trial has no 'command'; say what to run");
      faults_.spoil("command");
    }
    merge(own_, *trial);
  }

  // What only the whole shows, such as how many parameters there are.
  void check_whole(const SweepSpec& spec) {
    if (!mine_.empty()) return;
    const Status good = validate(spec);
    const YamlNode* space = at("search_space");
    if (!good) fault(space == nullptr ? own_.place : space->place, good.error().message);
  }

  const Source& source_;
  YamlNode& own_;
  Faults& faults_;
  Faults mine_;
  bool lacks_mistyped_ = false;
  Notes& notes_;
  YamlNode section_;
  ReadSweep read_;
};

}  // namespace

bool has_component_as_trial(const YamlNode& own) {
  const YamlEntry* trial = own.find("trial");
  return trial != nullptr && trial->value.kind != Kind::null && is_component(trial->value);
}

ReadSweep take_sweep(const Source& source, YamlNode& own, Faults& faults, Notes& notes) {
  return SweepReader(source, own, faults, notes).read();
}

void note_unread_parameters(const Source& source, const ReadSweep& sweep,
                            const std::vector<std::string>& texts, Notes& notes) {
  for (const SearchParameter& parameter : sweep.spec.space) {
    const std::string expression = expression_of("search_space", parameter.name);
    const bool is_read = std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return text.find(expression) != std::string::npos;
    });
    const auto place = sweep.places.find(parameter.name);
    if (is_read || place == sweep.places.end()) continue;
    notes.push_back(
        fmt::format("{}: 'search_space.{}' stands in no command or variable; trials find it as "
                    "AZUREML_SWEEP_{}",
                    source.where(place->second), parameter.name, parameter.name));
  }
}

}  // namespace lockstep::spec
