#include "launcher/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>

#include "common/base/nearest.h"
#include "launcher/cli/foreign_words.h"

namespace lockstep::cli {

namespace {

constexpr const char* kDescription = "Runs distributed training jobs on the machines you have.";

constexpr const char* kExamples = R"(
Examples:
  lockstep run -- python train.py                 one process here, with this directory's code
  lockstep run -N 2 -n 4 --distribution pytorch -- python train_ddp.py
  lockstep job create -f job.yml --stream         an Azure ML command job
  lockstep job list;  lockstep job stream NAME;  lockstep job logs NAME --rank 3 --tail 20
  lockstep environment create -f env.yml;  lockstep run --environment NAME@latest -- python t.py
  lockstep up --nodes 2;  lockstep status;  lockstep top;  lockstep down

No set-up is needed: the first verb that needs a launcher starts one under ~/.lockstep.

Environment:
  LOCKSTEP_HOME       where the local launcher, keys and caches live (default ~/.lockstep)
  LOCKSTEP_LAUNCHER   the endpoint.json of a launcher to use instead of the local one
  LOCKSTEP_COMPUTE    the compute target of jobs that name none (default local)

Exit codes of run, job create --stream and job stream:
  the code of the first rank that failed;  124 timed out;  125 Lockstep failed or refused the job;
  126 not executable;  127 not found;  128+n killed by signal n;  129 SIGHUP (the job continues);
  130 canceled or Ctrl-C;  141 standard output was closed
Of all other verbs: 0, or 1 when it failed or was refused;  130 and 141 as above.
Of all verbs: 2 the command line or the job file is wrong, and nothing was done.)";

constexpr const char* kCommandBehindDashes =
    "write the command after --, as in: lockstep run -- python train.py\n";
constexpr const char* kRunUsage =
    "usage: lockstep run [-N NODES] [-n RANKS_PER_NODE] [OPTIONS] -- COMMAND...\n";

// CLI11 takes the next word for the value of "--name="; here it is the empty text.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> split;
  for (const auto& word : words) {
    const bool empty_value = word.rfind("--", 0) == 0 && word.find('=') == word.size() - 1;
    split.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
    if (empty_value) split.emplace_back();
  }
  return split;
}

// "unknown verb 'jbo'; did you mean 'job'?", or "": CLI11 would only say that one is required.
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

// Of `lockstep` and `lockstep job` alone: what there is to choose from. "" for all else.
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

// "--name is given 2 times; write it once", for CLI11's "--name: At Most 1 required but …".
std::string words_of(const CLI::Error& error) {
  constexpr std::string_view kTooOften = ": At Most 1 required but received ";
  const std::string words = error.what();
  const auto at = words.find(kTooOften);
  if (at == std::string::npos) return words;
  return words.substr(0, at) + " is given " + words.substr(at + kTooOften.size()) +
         " times; write it once";
}

// The verb that the words reached.
const CLI::App& chosen(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : chosen(*below.front());
}

// "unknown option --ntasks; ranks per node is `-n`, …", for CLI11's "The following arguments were
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

}  // namespace

void add_format(CLI::App& verb, Format& format, const char* what) {
  verb.add_option_function<std::string>(
          "-o,--output",
          [&format](const std::string& word) {
            const auto known = format_from(word);
            if (!known)
              throw CLI::ValidationError("--output", "'" + word + "' is not table, json or yaml");
            format = *known;
          },
          what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("FORMAT");
}

CLI::Validator whole_number(int least, int most) {
  const auto check = [least, most](const std::string& word) -> std::string {
    int value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, value);
    if (failure == std::errc{} && stop == end && value >= least && value <= most) return "";
    const bool bounded = most != std::numeric_limits<int>::max();
    return "'" + word + "' is not a whole number " +
           (bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                    : "of at least " + std::to_string(least));
  };
  return CLI::Validator(check, "");
}

CLI::Validator filled(const std::string& instead) {
  const auto check = [instead](const std::string& word) {
    return word.empty() ? "must not be empty; " + instead : std::string();
  };
  return CLI::Validator(check, "");
}

CLI::App* VerbTable::add(const std::string& name, const std::string& what) const {
  CLI::App* const verb = app.add_subcommand(name, what);
  return name == first_word ? verb : nullptr;
}

CLI::App* VerbTable::add_below(CLI::App& group, const std::string& name,
                               const std::string& what) const {
  CLI::App* const verb = group.add_subcommand(name, what);
  return name == second_word ? verb : nullptr;
}

CommandLine parse_command_line(const std::vector<std::string>& written) {
  CommandLine result;
  const std::vector<std::string> words = with_options_for_words(written);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> command(dashes == words.end() ? dashes : dashes + 1, words.end());
  CLI::App app{kDescription, "lockstep"};
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  const auto is_word = [](const std::string& word) { return word.empty() || word[0] != '-'; };
  const auto first = std::find_if(words.begin(), dashes, is_word);
  VerbTable table{app, result.action, command, {}, {}};
  if (first != dashes) {
    table.first_word = *first;
    if (first + 1 != dashes && is_word(*(first + 1))) table.second_word = *(first + 1);
  }
  add_up_verbs(table);
  add_run_verb(table);
  add_job_verbs(table);
  add_environment_verbs(table);
  add_asset_verbs(table);
  add_datastore_verbs(table);
  add_top_verb(table);
  add_node_verbs(table);
  add_compute_verbs(table);
  add_size_verbs(table);
  add_user_verbs(table);
  add_project_verbs(table);
  add_secret_verbs(table);
  add_audit_verbs(table);
  add_quota_verbs(table);
  add_config_verbs(table);
  add_snapshot_verb(table);
  add_doctor_verb(table);
  const bool has_dashes = dashes != words.end();
  app.failure_message([has_dashes, &words](const CLI::App* failed, const CLI::Error& error) {
    const bool in_run = failed->got_subcommand("run");
    const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    const std::string why = extras ? unexpected(*failed, words) : "";
    return "lockstep: " + (why.empty() ? words_of(error) : why) + "\n" +
           (in_run && extras && !has_dashes ? kCommandBehindDashes : "") +
           (in_run ? kRunUsage : "") + "see lockstep " + (in_run ? "run " : "") + "--help\n";
  });
  if (std::string unknown = unknown_verb(app, words); !unknown.empty()) {
    result.err = "lockstep: " + unknown + "\nsee lockstep --help\n";
    result.exit_code = kExitUsage;
    return result;
  }
  if (std::string usage = usage_of_group(app, words); !usage.empty()) {
    result.err = std::move(usage);
    result.exit_code = kExitUsage;
    return result;
  }
  const auto ours = with_empty_values({words.begin(), dashes});
  std::vector<std::string> reversed(ours.rbegin(), ours.rend());
  try {
    app.parse(reversed);
    const bool takes_command = app.got_subcommand("run") || (table.first_word == "compute" &&
                                                             table.second_word == "connect-ssh");
    if (dashes != words.end() && !takes_command)
      throw CLI::ExtrasError("lockstep",
                             {"-- (only `run` and `compute connect-ssh` take a command)"});
  } catch (const CLI::ParseError& error) {  // help and version come this way too
    std::ostringstream out, err;
    // Unknown options before missing ones: a missing one may only have been misspelt.
    const auto unknown = app.remaining(true);
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const int code = is_missing && !unknown.empty() ? app.exit(CLI::ExtrasError(unknown), out, err)
                                                    : app.exit(error, out, err);
    result.action = {};
    result.out = out.str();
    result.err = err.str();
    result.exit_code = code == 0 ? 0 : kExitUsage;
  }
  return result;
}

}  // namespace lockstep::cli
