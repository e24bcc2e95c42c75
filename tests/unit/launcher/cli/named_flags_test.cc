// Each flag that an error, a help text or a guide writes behind a verb of `lockstep` is one that
// the verb takes: what is advised is not refused. A flag without a verb is one that all verbs which
// may say so take, or the key of a job file stands beside it.

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "launcher/cli/verb_tree.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "…run"\n    " --detach…" -> "…run --detach…": a literal that goes on in the next line.
std::string with_joined_literals(const std::string& text) {
  std::string joined;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t next = text.find_first_not_of(" \t\n", at + 1);
    const bool ends = text[at] == '"' && next != std::string::npos && text[next] == '"' &&
                      text.substr(at, next - at).find('\n') != std::string::npos;
    if (ends)
      at = next;
    else
      joined += text[at];
  }
  return joined;
}

// What begins with "lockstep " in backquotes, or at the begin of a line behind white space or "$".
std::vector<std::string> command_lines(const std::string& text) {
  std::vector<std::string> lines;
  constexpr std::string_view kName = "lockstep ";
  for (std::size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const std::string lead = text.substr(line, at - line);
    const bool is_quoted = !lead.empty() && lead.back() == '`';
    if (!is_quoted && lead.find_first_not_of(" $") != std::string::npos) continue;
    const std::size_t end = text.find_first_of(is_quoted ? "`\n" : "\n", at);
    lines.push_back(text.substr(at + kName.size(), end - at - kName.size()));
  }
  return lines;
}

bool ends_command(const std::string& word) {
  return word == "--" || word == "|" || word == "#" || word == "&&" || word[0] == '>';
}

std::string flag_of(const std::string& word) {
  constexpr const char* kOfFlags =
      "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const std::string flag = word.substr(0, word.find_first_not_of(kOfFlags));
  const bool is_flag =
      flag.size() >= 2 && (flag[1] == '-' || flag.size() == 2) && !flag.ends_with('-');
  return is_flag ? flag : "";
}

// The flags that the line has and its verb lacks. `lockstep help` is read by hand, and a verb that
// is only filled in ("{}") is not known.
std::vector<std::string> unknown_flags(const CLI::App& root, const std::string& line) {
  const CLI::App* verb = &root;
  bool is_in_verb = true, is_value = false;
  std::vector<std::string> unknown;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (ends_command(word) || (is_in_verb && (word == "help" || word[0] == '{'))) break;
    const bool is_last = word.back() == ';';
    if (is_value) {
      is_value = false;
    } else if (word[0] != '-') {
      const auto found = verb->get_subcommands(
          [&](const CLI::App* one) { return is_in_verb && one->get_name() == word; });
      const CLI::App* below = found.empty() ? nullptr : found.front();
      is_in_verb = below != nullptr;
      if (below != nullptr) verb = below;
    } else if (const std::string flag = flag_of(word); !flag.empty()) {
      const CLI::Option* option = verb->get_option_no_throw(flag);
      if (option == nullptr) unknown.push_back(flag);
      is_value = option != nullptr && takes_value(*option) && word == flag;
    }
    if (is_last) break;
  }
  return unknown;
}

int check_text(const CLI::App& root, const fs::path& path, const std::string& text) {
  int lines = 0;
  for (const std::string& line : command_lines(text)) {
    ++lines;
    for (const std::string& flag : unknown_flags(root, line))
      ADD_FAILURE() << path.string() << ": `lockstep " << line << "`: unknown " << flag;
  }
  return lines;
}

// What is within quotes, comments left out.
std::vector<std::string> literals_of(const std::string& text) {
  std::vector<std::string> literals;
  std::istringstream lines(with_joined_literals(text));
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(std::min(line.find_first_not_of(' '), line.size())).starts_with("//")) continue;
    for (auto at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
      const std::size_t begin = at + 1;
      for (at = begin; at < line.size() && line[at] != '"'; ++at)
        if (line[at] == '\\') ++at;
      if (at >= line.size()) break;
      literals.push_back(line.substr(begin, at - begin));
    }
  }
  return literals;
}

// Those of a sentence: not the name of a flag alone, nor what stands in backquotes.
std::vector<std::string> flags_of_message(const std::string& message) {
  std::vector<std::string> flags;
  bool is_quoted = false;
  std::size_t words = 0;
  for (std::size_t at = 0; at < message.size(); ++at) {
    if (message[at] == '`') is_quoted = !is_quoted;
    const bool begins = at == 0 || message[at - 1] == ' ' || message[at - 1] == '(';
    if (!begins || message[at] == ' ') continue;
    ++words;
    const std::string word = message.substr(at, message.find(' ', at) - at);
    if (word[0] != '-' || is_quoted) continue;
    if (std::string flag = flag_of(word); !flag.empty()) flags.push_back(std::move(flag));
  }
  return words > 1 ? flags : std::vector<std::string>();
}

// What they say is of other verbs or programs, or said by `run` alone.
const std::set<std::string> kNotOfJobs = {
    "common/grammar/requirement_text.cc",           // of pip
    "common/domain/environment/docker_options.cc",  // docker's own options
    "common/domain/job/validate.cc",                // the same
    "common/snapshot/capture/capture.cc",     // of the working directory, which only `run` takes
    "launcher/core/names/name_requests.cc",   // names of environments and assets
    "launcher/core/nodes/shared_machine.cc",  // lockstep-agent's
    "launcher/core/access/user_changes.cc"};  // `user role`

// What all verbs say that submit a job or show its end.
std::vector<fs::path> files_of_jobs() {
  const fs::path root(LOCKSTEP_SOURCE);
  std::vector<fs::path> files;
  for (const char* name :
       {"transfer/capture_lines.cc", "text/failure_text.cc", "follow/follower.cc",
        "follow/follower_answers.cc", "text/not_kept_text.cc", "follow/pipeline_follower.cc",
        "text/remedies.cc", "follow/pipeline_answers.cc", "submit/submit.cc",
        "submit/submit_and_watch.cc", "submit/upload.cc"})
    files.push_back(root / "launcher/cli" / name);
  for (const char* folder : {"common/domain", "common/grammar", "common/snapshot", "launcher/core",
                             "launcher/state", "launcher/words", "agent/environment"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const bool is_code = entry.path().extension() == ".cc" || entry.path().extension() == ".h";
      if (is_code && !kNotOfJobs.contains(entry.path().lexically_relative(root).string()))
        files.push_back(entry.path());
    }
  return files;
}

TEST(NamedFlags, ThatNotAllSubmittingVerbsTakeStandBesideTheKeyOfAJobFile) {
  const VerbTree tree;
  const CLI::App& run = *tree.app().get_subcommand("run");
  const CLI::App& create = *tree.app().get_subcommand("job")->get_subcommand("create");
  int beside_keys = 0;
  for (const fs::path& file : files_of_jobs())
    for (const std::string& message : literals_of(text_of(file)))
      for (const std::string& flag : flags_of_message(message)) {
        if (message.find("lockstep-agent --") != std::string::npos) continue;  // the agent's flags
        const bool is_of_both =
            run.get_option_no_throw(flag) == nullptr || create.get_option_no_throw(flag) != nullptr;
        const bool has_key = message.find("in a job file") != std::string::npos;
        if (has_key) ++beside_keys;
        EXPECT_TRUE(is_of_both || has_key)
            << file.string() << ": \"" << message << "\": `lockstep job create` has no " << flag
            << "; name the key \"in a job file\" beside it";
      }
  EXPECT_GT(beside_keys, 10);
}

TEST(NamedFlags, WhatSubmitsAJobTakesTheFlagThatItsRefusalAdvises) {
  const VerbTree tree;
  const CLI::App& job = *tree.app().get_subcommand("job");
  const CLI::App& environment = *tree.app().get_subcommand("environment");
  for (const CLI::App* verb : {tree.app().get_subcommand("run"), job.get_subcommand("create"),
                               job.get_subcommand("resume"), environment.get_subcommand("prepare")})
    EXPECT_NE(verb->get_option_no_throw("--wait-anyway"), nullptr) << verb->get_name();
}

TEST(NamedFlags, OfGuidesAreTakenByTheirVerbs) {
  const VerbTree tree;
  int lines = check_text(tree.app(), "README.md", text_of(fs::path(LOCKSTEP_SOURCE) / "README.md"));
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE) / "docs"))
    if (entry.path().extension() == ".md")
      lines += check_text(tree.app(), entry.path(), text_of(entry.path()));
  EXPECT_GT(lines, 300);
}

TEST(NamedFlags, OfErrorsAndHelpAreTakenByTheirVerbs) {
  const VerbTree tree;
  int lines = 0;
  for (const char* folder : {"launcher", "common", "agent", "runner", "envs"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(LOCKSTEP_SOURCE) / folder))
      if (entry.path().extension() == ".cc" || entry.path().extension() == ".h")
        lines += check_text(tree.app(), entry.path(), with_joined_literals(text_of(entry.path())));
  EXPECT_GT(lines, 200);
}

}  // namespace
}  // namespace lockstep::cli
