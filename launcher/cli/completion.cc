#include "launcher/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/io/file_system.h"
#include "launcher/cli/local_processes.h"
#include "launcher/cli/verb_tree.h"

namespace lockstep::cli {

namespace {

constexpr int kMostJobs = 200;  // the newest
constexpr Duration kPatience = milliseconds(900);

bool begins_with(const std::string& text, std::string_view start) {
  return text.rfind(start, 0) == 0;
}

// bash makes three words of --output=json.
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
  return std::nullopt;
}

// What an option names by itself (--compute), or as the NAME of a verb (`job show NAME`).
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
                                 const NamesOf& names) {
  std::vector<Candidate> values;
  for (std::string& word : choices_of(option)) values.push_back({std::move(word), ""});
  if (!values.empty()) return values;
  const auto noun = noun_of(verb, option);
  return noun ? names(*noun) : values;
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

std::vector<Candidate> words_of(const CLI::App& verb, const NamesOf& names) {
  std::vector<Candidate> words;
  for (const CLI::App* below : verbs_below(verb))
    words.push_back({below->get_name(), below->get_description()});
  if (!words.empty()) return words;
  for (const CLI::Option* option : options_of(verb))
    if (option->get_positional()) return values_of(verb, *option, names);
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
  const CLI::Option* waits = nullptr;  // an option whose value comes next
  for (const std::string& word : words) {
    if (waits != nullptr) {
      waits = nullptr;
    } else if (word == "--") {
      return {};  // a command, which is none of ours
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
    all = values_of(*verb, *waits, names);
  } else if (begins_with(typed, "--") && equals != std::string::npos) {
    const CLI::Option* option = option_named(*verb, typed);
    if (option != nullptr) all = values_of(*verb, *option, names);
    for (Candidate& one : all) one.word.insert(0, typed, 0, equals + 1);
  } else {
    all = begins_with(typed, "-") ? flags_of(*verb) : words_of(*verb, names);
  }
  keep_those_of(all, typed);
  return all;
}

namespace {

Result<std::vector<Candidate>> ask_names(const Context& context, Noun noun) {
  const auto endpoint = context.find_endpoint();
  if (!endpoint || !io::exists(context.home.user_key())) return std::vector<Candidate>{};
  TRY_ASSIGN(const io::KeyPair keys, user_keys(context.home));
  TRY_ASSIGN(const auto connection, Connection::open(*endpoint, keys));
  std::vector<Candidate> names;
  switch (noun) {
    case Noun::job:
    case Noun::archived_job: {
      ListJobs question;
      question.limit = kMostJobs;
      if (noun == Noun::archived_job) question.filter.archived = ArchivedToo::only;
      TRY_ASSIGN(const JobsReply reply, connection->ask_for<JobsReply>(question, kPatience));
      for (const JobView& job : reply.jobs)
        names.push_back({job.spec.name, std::string(to_string(job.status))});
      break;
    }
    case Noun::node: {
      TRY_ASSIGN(const NodesReply reply, connection->ask_for<NodesReply>(ListNodes{}, kPatience));
      for (const NodeView& node : reply.nodes) names.push_back({node.name, "node"});
      break;
    }
    case Noun::compute: {
      TRY_ASSIGN(const ComputesReply reply,
                 connection->ask_for<ComputesReply>(ListComputes{}, kPatience));
      for (const ComputeView& compute : reply.computes)
        names.push_back({compute.spec.name, "compute target"});
      break;
    }
  }
  return names;
}

}  // namespace

int print_completions(Context& context, const std::vector<std::string>& words) {
  const VerbTree tree;
  const NamesOf names = [&context](Noun noun) {
    return ask_names(context, noun).value_or(std::vector<Candidate>{});
  };
  std::string text;
  for (const Candidate& one : candidates_for(tree.app(), words, names))
    text += in_one_line(one.word) + (one.about.empty() ? "" : "\t" + in_one_line(one.about)) + "\n";
  context.terminal.out(text);
  return 0;
}

}  // namespace lockstep::cli
