#pragma once
// The verbs of `lockstep`, one file per group. Each function adds its subcommands to the parser;
// the chosen one leaves the work to be done in `action`.

#include <functional>
#include <string>
#include <vector>

#include "launcher/cli/context.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

using Action = std::function<int(Context&)>;

struct VerbTable {
  CLI::App& app;
  Action& action;
  // The words behind "--"; only `run` takes them.
  const std::vector<std::string>& command;
};

void add_up_verbs(VerbTable table);       // up, down, status
void add_run_verb(VerbTable table);       // run
void add_job_verbs(VerbTable table);      // job create|list|show|stream|logs|cancel|explain
void add_node_verbs(VerbTable table);     // node list|show|token|drain|resume
void add_snapshot_verb(VerbTable table);  // snapshot

// "-o, --output table|json|yaml", shared by all verbs that answer with data.
void add_format(CLI::App& verb, Format& format);

// A job that is not waited for: its name, or all of it.
int print_created(Context& context, Connection& connection, const JobId& job, Format format);

// Waits for the job's end with its logs, says how it ended, and returns the exit code.
struct WatchOptions {
  bool cancel_on_interrupt = false;
  bool quiet = false;
  int world_size = 0;  // 0 = not known yet: the launcher is asked
};
int watch_to_end(Context& context, Connection& connection, const JobId& job,
                 const WatchOptions& options);

}  // namespace lockstep::cli
