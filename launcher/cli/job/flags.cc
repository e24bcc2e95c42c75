#include "launcher/cli/job/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/domain/data/outputs.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/targets/compute.h"
#include "launcher/cli/base/verb_table.h"
#include "launcher/cli/job/key_words.h"
#include "launcher/files/data/data_path.h"
#include "launcher/files/data/output_reader.h"
#include "launcher/files/data/port_reader.h"
#include "launcher/files/job/kind.h"
#include "launcher/files/job_file.h"
#include "launcher/files/yaml/expressions.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;
using spec::YamlNode;

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_address(std::string_view value) {
  static constexpr std::array<std::string_view, 3> kLeads{"azureml:", "file:", "http"};
  const bool has_lead = std::any_of(kLeads.begin(), kLeads.end(),
                                    [&](std::string_view lead) { return value.starts_with(lead); });
  return has_lead && (!value.starts_with("http") || value.find("://") != std::string_view::npos);
}

bool is_local_path(std::string_view value) {
  return value == "." || value == ".." || value.starts_with("./") || value.starts_with("../") ||
         value.starts_with('/');
}

bool is_yaml(std::string_view value) { return value.starts_with('{'); }

// Quotes the text for YAML.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string from_here(const std::string& path) {
  return is_address(path) || path.find("://") != std::string::npos ? path
                                                                   : spec::absolute_path("", path);
}

// Makes {path: …} with the type that a user would write.
std::string data_of(const std::string& value) {
  std::string type;
  std::error_code failure;
  if (value.starts_with("http") || fs::is_regular_file(value, failure)) type = "uri_file";
  if (value.starts_with("azureml://") || fs::is_directory(value, failure)) type = "uri_folder";
  return fmt::format("{{path: {}{}}}", quoted(from_here(value)),
                     type.empty() ? "" : ", type: " + type);
}

struct Word {
  std::string name, value;
  bool has_value = false;
};

Result<Word> word_of(std::string_view flag, const std::string& text, bool needs_value) {
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool has_value = equals != std::string::npos;
  if (!valid_output_name(name) || (needs_value && !has_value))
    return wrong(fmt::format(
        "{} '{}' is not {}; the name has 1 to {} letters, digits and '_', and does not begin with "
        "a digit",
        flag, text, needs_value ? "NAME=VALUE" : "NAME or NAME=PATH", kMaxOutputNameBytes));
  return Word{name, has_value ? text.substr(equals + 1) : "", has_value};
}

bool is_literal_port(const YamlNode& mapping) {
  const spec::YamlEntry* type = mapping.find("type");
  return mapping.find("default") != nullptr ||
         (type != nullptr && spec::literal_type_from(spec::lower_case(type->value.text)));
}

// The override for an input. `known`: the input of this name in the file, or nullptr.
std::string input_override(const Word& input, const YamlNode* known) {
  const std::string key = "inputs." + input.name;
  const bool is_data =
      known != nullptr && known->kind == YamlNode::Kind::mapping && !is_literal_port(*known);
  if (is_yaml(input.value)) return key + "=" + input.value;
  if (is_data) return key + ".path=" + from_here(input.value);
  const bool looks_like_data = is_address(input.value) || is_local_path(input.value);
  return key + "=" + (known == nullptr && looks_like_data ? data_of(input.value) : input.value);
}

std::string output_override(const Word& output, bool is_known) {
  const std::string key = "outputs." + output.name;
  if (is_yaml(output.value)) return key + "=" + output.value;
  if (output.has_value) return key + ".path=" + output.value;
  return is_known ? "" : key + "={type: uri_folder}";
}

// Reads the tree of a file, whose errors its reader reports.
YamlNode tree_of(const spec::NamedText& file) {
  const spec::Source source{file.name, spec::without_mark(file.text), "",
                            "",        spec::kMaxFileBytes,           spec::kMaxJobNodes};
  auto root = spec::parse_yaml(source);
  return root ? *std::move(root) : YamlNode();
}

const YamlNode* entry_of(const YamlNode& root, std::string_view section, const std::string& name) {
  const spec::YamlEntry* all = root.find(section);
  const spec::YamlEntry* one = all == nullptr ? nullptr : all->value.find(name);
  return one == nullptr ? nullptr : &one->value;
}

// Expressions of data and outputs are left for the node to replace.
Status put_in_ports(JobSpec& spec) {
  auto* const argv = std::get_if<Argv>(&spec.command);
  if (argv == nullptr) return {};
  for (std::string& text : argv->words) {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = text;
    node.place.override_text = "-- " + text;
    TRY_ASSIGN(text, spec::substitute(spec::Source{}, node, {spec, {}}));
  }
  return {};
}

Status in_keys(const Status& status) {
  if (status) return status;
  return make_error(status.error().code, with_keys(status.error().message));
}

bool is_pipeline(const YamlNode& root) {
  const auto kind = spec::read_kind(spec::Source{}, root, spec::FileKind::job);
  return kind && *kind == spec::JobKind::pipeline;
}

}  // namespace

void add_job_flags(CLI::App& verb, JobFlags& flags) {
  const auto add_words = [&](const char* flag, std::vector<std::string>& words, const char* what) {
    return verb.add_option(flag, words, what)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  verb.add_option("--compute", flags.compute,
                  "the target on whose nodes the job runs (default: defaults.compute, else local)")
      ->check(filled("`lockstep compute list` shows the targets"));
  verb.add_option("--display-name", flags.display_name, "what lists show beside the name")
      ->check(filled("leave it out to have none"));
  verb.add_option("--experiment", flags.experiment,
                  "a name for filters (default: defaults.experiment, else Default)")
      ->check(filled("leave it out for the default one"));
  add_words("--tag", flags.tags, "KEY=VALUE, for people and for filters; may be repeated");
  add_words("--input", flags.inputs,
            "NAME=VALUE for ${{inputs.NAME}}: a value; a path (./x, /x) or an address (azureml:, "
            "https://) is data; or {type: T, path: P, mode: M}; may be repeated");
  verb.add_option("--grace", flags.grace,
                  "time between SIGTERM and SIGKILL: 60, 90s, 5m (default: the launcher's, 10s)")
      ->check(filled("leave it out for the launcher's"));
  verb.add_option("--signal", flags.signal,
                  "NAME@TIME: what its ranks get this long before the end of its time limit: "
                  "USR1@60; only processes that handle the signal get it")
      ->check(filled("leave it out for none"));
  add_links(verb, flags.links);
  add_wait_anyway(verb, flags.wait_anyway);
}

Status apply_texts(const JobFlags& flags, JobSpec& spec) {
  for (const std::string& text : flags.tags) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrong(fmt::format("--tag '{}' is not KEY=VALUE", text));
    spec.tags[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (!flags.display_name.empty()) spec.display_name = flags.display_name;
  if (flags.experiment.empty()) return {};
  spec.experiment_name = flags.experiment;
  if (!spec.pipeline) return {};
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps) step.spec.experiment_name = flags.experiment;
  spec.pipeline = std::move(pipeline);
  return {};
}

Status read_stop(const JobFlags& flags, StopPolicy& stop) {
  if (!flags.grace.empty()) {
    stop.grace = parse_duration(flags.grace);
    if (*stop.grace < Duration::zero())
      return wrong(
          fmt::format("--grace '{}' is not a time; write seconds, or 90s, 5m", flags.grace));
  }
  if (flags.signal.empty()) return {};
  auto signal = early_signal_from(flags.signal);
  if (!signal) return wrong("--signal: " + signal.error().message);
  stop.signal = *signal;
  return {};
}

Status apply_to_file(const JobFlags& flags, spec::JobFile& file) {
  TRY(apply_texts(flags, file.spec));
  const bool keeps_links = flags.links == snapshot::Links::keep;
  if (flags.links) file.keep_links = keeps_links;
  if (!file.spec.pipeline) {
    TRY(read_stop(flags, file.spec.stop));
    return in_keys(validate(file.spec.stop, file.spec.timeout));
  }
  PipelineSpec pipeline = *file.spec.pipeline;
  for (PipelineStep& step : pipeline.steps) {
    TRY(read_stop(flags, step.spec.stop));
    if (const Status good = in_keys(validate(step.spec.stop, step.spec.timeout)); !good)
      return good.error().within("jobs." + step.name);
  }
  file.spec.pipeline = std::move(pipeline);
  if (flags.links)
    for (spec::StepFiles& step : file.steps) step.keep_links = keeps_links;
  return {};
}

Status check_flags(const JobFlags& flags) {
  spec::JobFile nothing;
  nothing.spec.timeout = Duration::max();  // with this, every time of a signal is before the end
  return apply_to_file(flags, nothing);
}

bool names_target(const spec::NamedText& file) {
  const YamlNode root = tree_of(file);
  const spec::YamlEntry* settings = root.find("settings");
  return root.find("compute") != nullptr ||
         (settings != nullptr && settings->value.find("default_compute") != nullptr);
}

std::vector<FlagOverride> overrides_of(const JobFlags& flags, const spec::NamedText& file,
                                       spec::Faults& faults) {
  std::vector<FlagOverride> overrides;
  if (flags.compute.empty() && flags.inputs.empty() && flags.outputs.empty()) return overrides;
  const YamlNode root = tree_of(file);
  if (!flags.compute.empty())
    overrides.push_back(
        {(is_pipeline(root) ? "settings.default_compute=" : "compute=") + flags.compute,
         "--compute " + flags.compute});
  for (const std::string& text : flags.inputs) {
    const auto word = word_of("--input", text, true);
    if (!word)
      faults.add({}, word.error());
    else
      overrides.push_back(
          {input_override(*word, entry_of(root, "inputs", word->name)), "--input " + text});
  }
  for (const std::string& text : flags.outputs) {
    const auto word = word_of("--output", text, false);
    if (!word) {
      faults.add({}, word.error());
      continue;
    }
    const bool is_known = entry_of(root, "outputs", word->name) != nullptr;
    if (std::string assignment = output_override(*word, is_known); !assignment.empty())
      overrides.push_back({std::move(assignment), "--output " + text});
  }
  return overrides;
}

std::string as_typed(std::string error, const std::vector<FlagOverride>& overrides) {
  for (const FlagOverride& one : overrides)
    if (const std::string lead = "--set " + one.assignment + ":"; error.starts_with(lead))
      return one.flag + error.substr(lead.size() - 1);
  return error;
}

Status read_port_flags(const JobFlags& flags, JobSpec& spec, std::vector<spec::LocalData>& local) {
  if (flags.inputs.empty() && flags.outputs.empty()) return {};
  YamlNode root;
  root.kind = YamlNode::Kind::mapping;
  for (const std::string& text : flags.inputs) {
    TRY_ASSIGN(const Word word, word_of("--input", text, true));
    TRY(spec::apply_override(root, input_override(word, nullptr), "--input " + text));
  }
  for (const std::string& text : flags.outputs) {
    TRY_ASSIGN(const Word word, word_of("--output", text, false));
    TRY(spec::apply_override(root, output_override(word, false), "--output " + text));
  }
  const spec::Source source;
  spec::Faults faults;
  spec::check_shapes(source, root, faults);
  if (const spec::YamlEntry* inputs = root.find("inputs")) {
    spec::ReadInputs read = spec::read_inputs(source, inputs->value, faults);
    spec.inputs = std::move(read.literals);
    spec.data = std::move(read.data);
    local = std::move(read.local);
    for (spec::LocalData& one : local)
      for (DataInput& input : spec.data)
        if (input.name == one.name) faults.add(one.place, spec::find_data(source, one, input));
  }
  if (const spec::YamlEntry* outputs = root.find("outputs"))
    for (const spec::YamlEntry& entry : outputs->value.entries)
      spec.outputs.push_back(
          spec::output_spec(spec::read_output(source, entry.key, entry.value, faults)));
  TRY(faults.status());
  return put_in_ports(spec);
}

}  // namespace lockstep::cli
