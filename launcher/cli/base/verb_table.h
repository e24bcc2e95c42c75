#pragma once
// What the verbs of `lockstep` are made with. Each function of a verb adds its subcommands to the
// parser; the chosen one leaves the work to be done in `action`.

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/snapshot/capture/capture.h"
#include "launcher/cli/base/verb_context.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace lockstep::cli {

using Action = std::function<int(Context&)>;

struct VerbTable {
  CLI::App& app;
  Action& action;
  // The words behind "--"; only `run`, `job shell` and `compute connect-ssh` take them.
  const std::vector<std::string>& command;
  // The first word of the command line that is not an option, or "".
  std::string_view first_word;
  std::string_view second_word;  // what follows it, unless that is an option
  bool whole = false;            // add all verbs with all options, whatever was typed

  // Adds the name and its line in the help. The verb's options and subcommands cost more than the
  // rest of a short command, so the caller adds them only when the answer is not null: when the
  // verb is the one that was typed.
  CLI::App* add(const std::string& name, const std::string& what) const;
  // The same for a verb of `group`, whose name is the second word.
  CLI::App* add_below(CLI::App& group, const std::string& name, const std::string& what) const;
};

// "-o, --output table|json|yaml|tsv" and "--query JMESPATH", shared by all verbs that answer with
// data. A query without -o makes the format JSON. `outputs`: of a verb that has "--output NAME" for
// the outputs of a job; there --output is a format only with the word of one. `csv`: of a verb that
// also writes `-o csv`, which a query cannot select from.
inline constexpr const char* kQueryOption = "--query";
void add_format(CLI::App& verb, Format& format,
                const char* what = "table (default), json, yaml or tsv",
                std::vector<std::string>* outputs = nullptr, bool* csv = nullptr);

// "--raw": a terminal gets what a job wrote as it is.
void add_raw(CLI::App& verb, bool& raw);

// "--wait-anyway": of the verbs that submit a job; Submission::wait_anyway.
void add_wait_anyway(CLI::App& verb, bool& wait_anyway);

// "--links follow|keep": what becomes of symlinks that lead out of the source folder.
void add_links(CLI::App& verb, std::optional<snapshot::Links>& links);

// Checks of an option's value: what is wrong, and what is allowed. `instead` says how to do
// without.
CLI::Validator whole_number(int least, int most = std::numeric_limits<int>::max());
CLI::Validator filled(const std::string& instead);
// As filled(), of an option or argument that takes the name of a job: there `@last` is one
// (last_job.h).
CLI::Validator job_name(const std::string& instead = "`lockstep job list` shows the names");
inline constexpr const char* kJobName = "job name";  // by which the check is found again

}  // namespace lockstep::cli
