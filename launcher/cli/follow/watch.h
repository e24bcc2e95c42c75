#pragma once
// A job that is waited for: followed with its logs, and how it ended.

#include <functional>

#include "common/base/ids.h"
#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {

struct FollowOptions;

// Waits for the job's end with its logs, says how it ended, and returns the exit code.
struct WatchOptions {
  bool cancel_on_interrupt = false;
  bool quiet = false;
  int world_size = 0;  // 0 = not known yet, or a pipeline's: the launcher is asked
  // Format::table; else the ranks' output goes to standard error, and at the end the job's record
  // to standard output.
  Format format = Format::table;
  bool raw = false;            // the same field as in FollowOptions
  bool leave_in_vain = false;  // the same field as in FollowOptions; the exit code is 1 then
  // Also shows the lines of solving and building each node's environment; false: they are in its
  // log, and the status shows the progress.
  bool environment_log = false;
  // Selects the lines that are shown, and how; empty: all.
  std::function<void(FollowOptions&)> select = {};
  // Called when the job has ended, before its report is written; may be empty.
  std::function<void()> before_report = {};
};
int watch_to_end(Context& context, Connection& connection, const JobId& job,
                 const WatchOptions& options);

}  // namespace lockstep::cli
