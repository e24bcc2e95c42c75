#include "launcher/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/io/file_system.h"
#include "launcher/cli/job/filter.h"
#include "launcher/cli/local/processes.h"
#include "launcher/cli/verb_tree.h"

namespace lockstep::cli {

namespace {

constexpr int kMostJobs = 200;   // the most jobs, the newest ones
constexpr int kMostParents = 3;  // the most pipelines whose steps are requested
constexpr Duration kQueryTimeout = milliseconds(900);

bool begins_with(const std::string& text, std::string_view start) {
  return text.rfind(start, 0) == 0;
}

// Joins words again: bash splits --output=json into three.
std::vector<std::string> without_lone_equals(std::vector<std::string> words) {
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_between = words[i] == "=" && i > 0 && begins_with(words[i - 1], "--");
    if (!is_between) joined.push_back(words[i]);
    if (is_between && i + 1 == words.size()) joined.emplace_back();
  }
  return joined;
}

const CLI::Option* option_named(const CLI::App& verb, const std::string& word) {
  const CLI::Option* option = verb.get_option_no_throw(word.substr(0, word.find('=')));
  return option;
}

std::optional<Noun> noun_from(std::string_view word) {
  if (word == "job" || word == "parent" || word == "after" || word == "from-checkpoint-of")
    return Noun::job;
  if (word == "node") return Noun::node;
  if (word == "compute") return Noun::compute;
  if (word == "datastore") return Noun::datastore;
  if (word == "data") return Noun::data;
  if (word == "model") return Noun::model;
  if (word == "component") return Noun::component;
  if (word == "environment") return Noun::environment;
  return std::nullopt;
}

// The kind of name that an option takes (--compute), or the NAME of a verb (`job show NAME`).
std::optional<Noun> noun_of(const CLI::App& verb, const CLI::Option& option) {
  for (const std::string& name : option.get_lnames())
    if (const auto noun = noun_from(name)) return noun;
  const bool is_name = option.get_positional() && option.get_name(true).rfind("NAME", 0) == 0;
  if (!is_name || verb.get_parent() == nullptr || verb.get_name() == "create") return std::nullopt;
  const auto noun = noun_from(verb.get_parent()->get_name());
  const bool is_archived = noun == Noun::job && verb.get_name() == "restore";
  return is_archived ? Noun::archived_job : noun;
}

std::vector<Candidate> values_of(const CLI::App& verb, const CLI::Option& option,
                                 const NamesOf& names, const std::string& typed) {
  std::vector<Candidate> values;
  for (std::string& word : choices_of(option)) values.push_back({std::move(word), ""});
  if (option.check_lname("status"))  // there are too many for the usage line
    for (const JobStatus status : all_statuses())
      values.push_back({std::string(to_string(status)), ""});
  if (!values.empty()) return values;
  const auto noun = noun_of(verb, option);
  return noun ? names(*noun, typed) : values;
}

std::vector<Candidate> flags_of(const CLI::App& verb) {
  std::vector<Candidate> flags;
  for (const CLI::Option* option : options_of(verb)) {
    for (const std::string& name : option->get_lnames())
      flags.push_back({"--" + name, option->get_description()});
    if (option->get_lnames().empty())
      for (const std::string& name : option->get_snames())
        flags.push_back({"-" + name, option->get_description()});
  }
  return flags;
}

std::vector<Candidate> words_of(const CLI::App& verb, const NamesOf& names,
                                const std::string& typed) {
  std::vector<Candidate> words;
  for (const CLI::App* below : verbs_below(verb))
    words.push_back({below->get_name(), below->get_description()});
  if (!words.empty()) return words;
  for (const CLI::Option* option : options_of(verb))
    if (option->get_positional()) return values_of(verb, *option, names, typed);
  return words;
}

void keep_those_of(std::vector<Candidate>& all, const std::string& start) {
  const auto is_other = [&](const Candidate& one) { return !begins_with(one.word, start); };
  all.erase(std::remove_if(all.begin(), all.end(), is_other), all.end());
}

}  // namespace

std::vector<Candidate> candidates_for(const CLI::App& verbs, std::vector<std::string> words,
                                      const NamesOf& names) {
  words = without_lone_equals(std::move(words));
  if (words.empty()) words.emplace_back();
  const std::string typed = words.back();
  words.pop_back();
  const CLI::App* verb = &verbs;
  const CLI::Option* waits = nullptr;  // an option that still needs its value
  for (const std::string& word : words) {
    if (waits != nullptr) {
      waits = nullptr;
    } else if (word == "--") {
      return {};  // a command of the user's, which is not completed
    } else if (begins_with(word, "-")) {
      const CLI::Option* option = option_named(*verb, word);
      const bool has_value = word.find('=') != std::string::npos;
      if (option != nullptr && takes_value(*option) && !has_value) waits = option;
    } else {
      for (const CLI::App* below : verbs_below(*verb))
        if (below->get_name() == word) verb = below;
    }
  }
  std::vector<Candidate> all;
  const auto equals = typed.find('=');
  if (waits != nullptr) {
    all = values_of(*verb, *waits, names, typed);
  } else if (begins_with(typed, "--") && equals != std::string::npos) {
    const CLI::Option* option = option_named(*verb, typed);
    if (option != nullptr) all = values_of(*verb, *option, names, typed.substr(equals + 1));
    for (Candidate& one : all) one.word.insert(0, typed, 0, equals + 1);
  } else {
    all = begins_with(typed, "-") ? flags_of(*verb) : words_of(*verb, names, typed);
  }
  keep_those_of(all, typed);
  return all;
}

namespace {

class NameAsker {
 public:
  explicit NameAsker(Connection& connection) : connection_(connection) {}

  Result<std::vector<Candidate>> names(Noun noun, const std::string& typed) const {
    switch (noun) {
      case Noun::job: return jobs(typed);
      case Noun::archived_job: return archived_jobs();
      case Noun::node: return nodes();
      case Noun::compute: return computes();
      case Noun::data: return assets(AssetKind::data);
      case Noun::model: return assets(AssetKind::model);
      case Noun::component: return assets(AssetKind::component);
      case Noun::environment: return environments();
      case Noun::datastore: return datastores();
    }
    return std::vector<Candidate>{};
  }

 private:
  Result<std::vector<Candidate>> listed(const ListJobs& question) const {
    TRY_ASSIGN(const JobsReply reply, connection_.ask_for<JobsReply>(question, kQueryTimeout));
    std::vector<Candidate> names;
    for (const JobView& job : reply.jobs)
      names.push_back({job.spec.name, std::string(to_string(job.status))});
    return names;
  }
  // The names of jobs; for `faces_tr` also the jobs of the pipeline `faces`.
  Result<std::vector<Candidate>> jobs(const std::string& typed) const {
    ListJobs question;
    question.limit = kMostJobs;
    TRY_ASSIGN(std::vector<Candidate> names, listed(question));
    std::size_t at = typed.find('_');
    for (int i = 0; i < kMostParents && at != std::string::npos;
         ++i, at = typed.find('_', at + 1)) {
      question.filter.parent = JobId(typed.substr(0, at));
      const auto steps = listed(question);  // an error if the job does not exist
      if (steps) names.insert(names.end(), steps->begin(), steps->end());
    }
    return names;
  }
  Result<std::vector<Candidate>> archived_jobs() const {
    ListJobs question;
    question.limit = kMostJobs;
    question.filter.archived = ArchivedToo::only;
    return listed(question);
  }
  Result<std::vector<Candidate>> nodes() const {
    TRY_ASSIGN(const NodesReply reply, connection_.ask_for<NodesReply>(ListNodes{}, kQueryTimeout));
    std::vector<Candidate> names;
    for (const NodeView& node : reply.nodes) names.push_back({node.name, "node"});
    return names;
  }
  Result<std::vector<Candidate>> computes() const {
    TRY_ASSIGN(const ComputesReply reply,
               connection_.ask_for<ComputesReply>(ListComputes{}, kQueryTimeout));
    std::vector<Candidate> names;
    for (const ComputeView& compute : reply.computes)
      names.push_back({compute.spec.name, "compute target"});
    return names;
  }
  Result<std::vector<Candidate>> assets(AssetKind kind) const {
    TRY_ASSIGN(const AssetsReply reply, connection_.ask_for<AssetsReply>(
                                            ListAssets{kind, "", ArchivedToo::no}, kQueryTimeout));
    std::vector<Candidate> names;
    for (const AssetView& view : reply.assets)
      names.push_back({view.asset.name, "version " + view.asset.version});
    return names;
  }
  Result<std::vector<Candidate>> environments() const {
    TRY_ASSIGN(const EnvironmentsReply reply,
               connection_.ask_for<EnvironmentsReply>(ListEnvironments{}, kQueryTimeout));
    std::vector<Candidate> names;
    for (const EnvironmentView& view : reply.environments)
      names.push_back({view.environment.spec.name, "version " + view.environment.spec.version});
    return names;
  }
  Result<std::vector<Candidate>> datastores() const {
    TRY_ASSIGN(const DatastoresReply reply,
               connection_.ask_for<DatastoresReply>(ListDatastores{}, kQueryTimeout));
    std::vector<Candidate> names;
    for (const DatastoreView& store : reply.datastores) names.push_back({store.name, "datastore"});
    return names;
  }

  Connection& connection_;
};

Result<std::vector<Candidate>> ask_names(const Context& context, Noun noun,
                                         const std::string& typed) {
  const auto endpoint = context.find_endpoint();
  if (!endpoint || !io::exists(context.home.user_key())) return std::vector<Candidate>{};
  TRY_ASSIGN(const io::KeyPair keys, user_keys(context.home));
  TRY_ASSIGN(const auto connection, Connection::open(*endpoint, keys));
  return NameAsker(*connection).names(noun, typed);
}

}  // namespace

int print_completions(Context& context, const std::vector<std::string>& words) {
  const VerbTree tree;
  const NamesOf names = [&context](Noun noun, const std::string& typed) {
    return ask_names(context, noun, typed).value_or(std::vector<Candidate>{});
  };
  std::string text;
  for (const Candidate& one : candidates_for(tree.app(), words, names))
    text += in_one_line(one.word) + (one.about.empty() ? "" : "\t" + in_one_line(one.about)) + "\n";
  context.terminal.out(text);
  return 0;
}

}  // namespace lockstep::cli
