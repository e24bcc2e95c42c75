#include "launcher/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "common/base/nearest.h"
#include "launcher/cli/all_verbs.h"
#include "launcher/cli/completion.h"
#include "launcher/cli/foreign_words.h"
#include "launcher/cli/last_job.h"
#include "launcher/cli/manual.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCommandBehindDashes =
    "write the command after --, as in: lockstep run -- python3 train.py\n";
constexpr const char* kShellBehindDashes =
    "write the command after --, as in: lockstep job shell NAME -- nvidia-smi\n";
constexpr const char* kRunUsage =
    "usage: lockstep run [-N NODES] [-n RANKS_PER_NODE] [OPTIONS] -- COMMAND...\n";

// Keeps empty values: CLI11 would take the next word as the value of "--name=".
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> split;
  for (const auto& word : words) {
    const bool empty_value = word.rfind("--", 0) == 0 && word.find('=') == word.size() - 1;
    split.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
    if (empty_value) split.emplace_back();
  }
  return split;
}

// "unknown verb 'jbo'; did you mean 'job'?", or "". CLI11 would only say that a verb is required.
std::string unknown_verb(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* group = &app;
  std::string path;
  for (const auto& word : words) {
    const auto verbs = group->get_subcommands([](const CLI::App*) { return true; });
    if (verbs.empty() || word.empty() || word[0] == '-') return "";
    const auto found = std::find_if(verbs.begin(), verbs.end(),
                                    [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (found != verbs.end()) {
      group = *found;
      path += word + " ";
      continue;
    }
    const std::string name = path + word;
    if (const auto meaning = meaning_of(path.substr(0, path.empty() ? 0 : path.size() - 1), word))
      return "unknown verb '" + name + "'; " + *meaning;
    std::vector<std::string_view> names;
    for (const auto* verb : verbs) names.push_back(verb->get_name());
    const std::string near = nearest(word, names);
    std::string known;
    for (const auto name : names) known.append(known.empty() ? "" : ", ").append(name);
    return "unknown verb '" + name + "'; " +
           (near.empty() ? "the verbs are " + known : "did you mean '" + path + near + "'?");
  }
  return "";
}

// The verbs to choose from, for `lockstep` or `lockstep job` alone; "" for everything else.
std::string usage_of_group(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* group = &app;
  for (const auto& word : words) {
    const auto verbs =
        group->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; });
    if (verbs.empty()) return "";
    group = verbs.front();
  }
  const bool is_group = !group->get_subcommands([](const CLI::App*) { return true; }).empty() &&
                        group->get_require_subcommand_min() > 0;
  return is_group ? group->help() : "";
}

// "--name is given 2 times; write it once". CLI11 says "--name: At Most 1 required but …".
std::string words_of(const CLI::Error& error) {
  constexpr std::string_view kTooOften = ": At Most 1 required but received ";
  const std::string words = error.what();
  const auto at = words.find(kTooOften);
  if (at == std::string::npos) return words;
  return words.substr(0, at) + " is given " + words.substr(at + kTooOften.size()) +
         " times; write it once";
}

// The verb that was parsed last.
const CLI::App& chosen(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : chosen(*below.front());
}

// The verb in the words, and its name: "job logs ".
std::pair<const CLI::App*, std::string> typed(const CLI::App& app,
                                              const std::vector<std::string>& words) {
  const CLI::App* verb = &app;
  std::string path;
  for (const auto& word : words) {
    const auto found =
        verb->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (found.empty()) break;
    verb = found.front();
    path += word + " ";
  }
  return {verb, path};
}

std::string help_of(const CLI::App& app, const std::vector<std::string>& words) {
  return "lockstep " + typed(app, words).second + "--help";
}

// Removes options that az has for every verb from `words`, unless the verb has an option of that
// name; returns the note about that, or "".
std::string take_out_foreign(const CLI::App& app, std::vector<std::string>& words) {
  constexpr std::string_view kForeign[] = {"-g", "--resource-group", "-w", "--workspace-name",
                                           "--subscription"};
  const auto [verb, path] = typed(app, words);
  std::string said;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string option = words[i].substr(0, words[i].find('='));
    const bool is_foreign = verb != &app && std::find(std::begin(kForeign), std::end(kForeign),
                                                      option) != std::end(kForeign);
    if (!is_foreign || verb->get_option_no_throw(option) != nullptr) {
      left.push_back(words[i]);
      continue;
    }
    said += (said.empty() ? "" : ", ") + option;
    const bool has_value = option.size() < words[i].size() || i + 1 == words.size();
    if (!has_value) ++i;
  }
  words = std::move(left);
  if (said.empty()) return "";
  return "lockstep: " + said +
         ": a launcher has no resource groups, workspaces and subscriptions; this has no meaning "
         "here\n";
}

// "unknown option --ntasks; ranks per node is `-n`, …". CLI11 says "The following arguments were
// not expected: 4 --ntasks".
std::string unexpected(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> left = app.remaining(true);
  const auto first = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(left.begin(), left.end(), word) != left.end();
  });
  if (first == words.end()) return "";
  if ((*first)[0] != '-') {
    const std::string text = "unexpected word '" + *first + "'";
    const CLI::Option* file = chosen(app).get_option_no_throw("--file");
    return file == nullptr ? text : text + "; to name a file, write -f " + *first;
  }
  const std::string option = first->substr(0, first->find('='));
  std::string text = "unknown option " + option;
  if (const auto meaning = meaning_of_option(option)) return text + "; " + *meaning;
  std::vector<std::string> names;
  for (const CLI::Option* known : chosen(app).get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = nearest(option, views);
  return near.empty() ? text : text + "; did you mean " + near + "?";
}

// Whether the verb has an -o for the format, and the user gave none. For `run` and `job create`,
// --output gives a format only if its value is one.
bool wants_format(const CLI::App& app, const std::vector<std::string>& words) {
  constexpr std::string_view kLong = "--output";
  const CLI::App* verb = &app;
  std::vector<std::string> values;  // values of --output
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("-o")) return false;
    if (word == kLong) values.push_back(i + 1 < words.size() ? words[i + 1] : "");
    if (word.starts_with("--output=")) values.push_back(word.substr(kLong.size() + 1));
    const auto below =
        verb->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (!below.empty()) verb = below.front();
  }
  const bool is_format = verb->get_option_no_throw("-o") == verb->get_option_no_throw("--output");
  for (const std::string& value : values)
    if (is_format || format_from(value)) return false;
  return verb->get_option_no_throw(kQueryOption) != nullptr;
}

// Options are parsed for it only if the text occurs, since that costs time.
bool mentions_last_job(const std::string& word) { return word.find("@last") != std::string::npos; }

// Handles `help --man …`, which prints documentation of the verbs, and __complete, which shells
// call; neither is parsed as a verb.
std::optional<CommandLine> about_the_verbs(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  CommandLine line;
  if (words[0] == kCompleteVerb) {
    line.action = [asked = std::vector(words.begin() + 1, words.end())](Context& context) {
      return print_completions(context, asked);
    };
    return line;
  }
  if (words.size() < 2 || words[0] != "help" || words[1].rfind("--man", 0) != 0)
    return std::nullopt;
  const auto text = manual_text({words.begin() + 1, words.end()});
  if (text) {
    line.out = *text;
  } else {
    line.err = "lockstep: " + text.error().message + "\n";
    line.exit_code = kExitUsage;
  }
  return line;
}

void fill_first_words(VerbTable& table, std::vector<std::string>::const_iterator begin,
                      std::vector<std::string>::const_iterator end) {
  const auto is_word = [](const std::string& word) { return word.empty() || word[0] != '-'; };
  const auto first = std::find_if(begin, end, is_word);
  if (first == end) return;
  table.first_word = *first;
  if (first + 1 != end && is_word(*(first + 1))) table.second_word = *(first + 1);
}

// Sets how errors of the parser are worded. `app` and `ours` are used when an error occurs.
void set_failure_message(CLI::App& app, const std::vector<std::string>& ours, bool has_dashes,
                         bool in_shell) {
  app.failure_message(
      [has_dashes, in_shell, &ours, &app](const CLI::App* failed, const CLI::Error& error) {
        const bool in_run = failed->got_subcommand("run");
        const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
        const std::string why = extras ? unexpected(*failed, ours) : "";
        return "lockstep: " + (why.empty() ? words_of(error) : why) + "\n" +
               (in_run && extras && !has_dashes ? kCommandBehindDashes : "") +
               (in_shell && extras && !has_dashes ? kShellBehindDashes : "") +
               (in_run ? kRunUsage : "") + "see " + help_of(app, ours) + "\n";
      });
}

// Whether the words name no verb; `result` then has the error.
bool names_no_verb(const CLI::App& app, const std::vector<std::string>& ours, CommandLine& result) {
  if (std::string unknown = unknown_verb(app, ours); !unknown.empty()) {
    result.err += "lockstep: " + unknown + "\nsee " + help_of(app, ours) + "\n";
    result.exit_code = kExitUsage;
    return true;
  }
  if (std::string usage = usage_of_group(app, ours); !usage.empty()) {
    result.err += usage;
    result.exit_code = kExitUsage;
    return true;
  }
  return false;
}

// Takes an error of the parser; CLI11 reports help and version as such, too.
void take_parse_error(const CLI::App& app, const CLI::ParseError& error, CommandLine& result) {
  std::ostringstream out, err;
  // Reports unknown options before missing ones: a missing one may only be misspelt.
  const auto unknown = app.remaining(true);
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const int code = is_missing && !unknown.empty() ? app.exit(CLI::ExtrasError(unknown), out, err)
                                                  : app.exit(error, out, err);
  result.action = {};
  result.out = out.str();
  result.err += err.str();
  result.exit_code = code == 0 ? 0 : kExitUsage;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& written,
                               const std::string& default_output, const std::string& last_job) {
  CommandLine result;
  if (auto answer = about_the_verbs(written)) return *std::move(answer);
  std::vector<std::string> words = with_options_for_words(written);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> command(dashes == words.end() ? dashes : dashes + 1, words.end());
  CLI::App app{"", "lockstep"};
  VerbTable table{app, result.action, command, {}, {}};
  fill_first_words(table, words.begin(), dashes);
  add_verbs(table);
  if (std::any_of(words.begin(), dashes, mentions_last_job))
    resolve_last_job(app, last_job, result.names_last_job);
  const bool has_dashes = dashes != words.end();
  const bool in_shell = table.first_word == "job" && table.second_word == "shell";
  std::vector<std::string> ours(words.begin(), dashes);
  result.err = take_out_foreign(app, ours);
  set_failure_message(app, ours, has_dashes, in_shell);
  if (names_no_verb(app, ours, result)) return result;
  ours = with_empty_values(ours);
  if (!default_output.empty() && wants_format(app, ours)) {
    ours.emplace_back("-o");
    ours.push_back(default_output);
  }
  std::vector<std::string> reversed(ours.rbegin(), ours.rend());
  try {
    app.parse(reversed);
    const bool takes_command =
        app.got_subcommand("run") || in_shell ||
        (table.first_word == "compute" && table.second_word == "connect-ssh");
    if (has_dashes && !takes_command)
      throw CLI::ExtrasError(
          "lockstep", {"-- (only `run`, `job shell` and `compute connect-ssh` take a command)"});
    const CLI::Option* query = chosen(app).get_option_no_throw(kQueryOption);
    if (query != nullptr && query->count() > 0)
      if (auto parsed = jmespath::Expression::parse(query->results().back()); parsed)
        result.query = *std::move(parsed);
  } catch (const CLI::ParseError& error) {  // help and version arrive here, too
    take_parse_error(app, error, result);
  }
  return result;
}

}  // namespace lockstep::cli
