#pragma once
// The verbs of `lockstep`, one file per group. Each function adds its subcommands to the parser;
// the chosen one leaves the work to be done in `action`.

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

struct FollowOptions;

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

void add_verbs(VerbTable table);  // all of them, and what `lockstep --help` says

void add_up_verbs(VerbTable table);   // up, down, status
void add_run_verb(VerbTable table);   // run
void add_job_verbs(VerbTable table);  // job create|list|show|stream|logs|download|cancel|…
void add_create_verb(CLI::App& group, VerbTable table);    // job create
void add_list_verb(CLI::App& group, VerbTable table);      // job list
void add_download_verb(CLI::App& group, VerbTable table);  // job download
void add_events_verb(CLI::App& group, VerbTable table);    // job events
void add_log_verbs(CLI::App& group, VerbTable table);      // job stream, job logs
void add_delete_verb(CLI::App& group, VerbTable table);    // job delete
void add_validate_verb(CLI::App& group, VerbTable table);  // job validate
void add_files_verbs(CLI::App& group, VerbTable table);    // job files, job cat
void add_shell_verb(CLI::App& group, VerbTable table);     // job shell
void add_signal_verb(CLI::App& group, VerbTable table);    // job signal
void add_stacks_verb(CLI::App& group, VerbTable table);    // job stacks
void add_diagnose_verb(CLI::App& group, VerbTable table);  // job diagnose
void add_update_verb(CLI::App& group, VerbTable table);
CLI::Validator priority_word();                            // low, medium or high
void add_share_verbs(CLI::App& group, VerbTable table);    // job share, job unshare
void add_archive_verbs(CLI::App& group, VerbTable table);  // job archive, job restore
void add_resume_verb(CLI::App& group, VerbTable table);    // job resume
void add_environment_verbs(VerbTable table);               // environment …
void add_asset_verbs(VerbTable table);                     // data …, model …, component …
void add_component_create_verb(CLI::App& group, VerbTable table);  // component create
void add_datastore_verbs(VerbTable table);                         // datastore list|show
void add_top_verb(VerbTable table);                                // top
void add_node_verbs(VerbTable table);     // node list|show|token|drain|resume
void add_user_verbs(VerbTable table);     // user …
void add_project_verbs(VerbTable table);  // project …
void add_secret_verbs(VerbTable table);   // secret set|list|remove
void add_audit_verbs(VerbTable table);    // audit, audit verify
void add_quota_verbs(VerbTable table);    // quota …
void add_compute_verbs(VerbTable table);  // compute create|list|show|update|attach|list-nodes|…
void add_instance_verbs(CLI::App& group, VerbTable table);    // compute start, stop, restart
void add_detach_verbs(CLI::App& group, VerbTable table);      // compute detach, compute delete
void add_connect_ssh_verb(CLI::App& group, VerbTable table);  // compute connect-ssh
void add_size_verbs(VerbTable table);                         // size …
void add_list_sizes_verb(CLI::App& group, VerbTable table);   // compute list-sizes
void add_config_verbs(VerbTable table);                       // config set|unset|get|list
void add_snapshot_verb(VerbTable table);                      // snapshot
void add_doctor_verb(VerbTable table);                        // doctor
void add_completion_verb(VerbTable table);                    // completion
void add_init_verb(VerbTable table);                          // init
void add_compare_verb(CLI::App& group, VerbTable table);      // job compare
void add_completion_verb(VerbTable table);                    // completion

// compute log
void add_compute_log_verb(CLI::App& group, VerbTable table);

// "-o, --output table|json|yaml|tsv" and "--query JMESPATH", shared by all verbs that answer with
// data. A query without -o makes the format JSON. `outputs`: of a verb that has "--output NAME" for
// the outputs of a job; there --output is a format only with the word of one.
inline constexpr const char* kQueryOption = "--query";
void add_format(CLI::App& verb, Format& format,
                const char* what = "table (default), json, yaml or tsv",
                std::vector<std::string>* outputs = nullptr);

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

// A job that is not waited for: its name, or all of it. `otherwise`: the exit code when it fails.
int print_created(Context& context, Connection& connection, const JobId& job, Format format,
                  int otherwise);

// Waits for the job's end with its logs, says how it ended, and returns the exit code.
struct WatchOptions {
  bool cancel_on_interrupt = false;
  bool quiet = false;
  int world_size = 0;             // 0 = not known yet, or a pipeline's: the launcher is asked
  Format format = Format::table;  // else what the ranks write goes to standard error, and the
                                  // job's record to standard output in the end
  bool raw = false;               // as of FollowOptions
  bool leave_in_vain = false;     // as of FollowOptions; the exit code is 1 then
  // Also the lines of how each node's environment is solved and built; false: they are in its log,
  // and the status says what is being done.
  bool environment_log = false;
  // Which lines are shown, and how; empty: all.
  std::function<void(FollowOptions&)> select = {};
  // Called when the job has ended, before it is said how; may be empty.
  std::function<void()> before_report = {};
};
int watch_to_end(Context& context, Connection& connection, const JobId& job,
                 const WatchOptions& options);

}  // namespace lockstep::cli
