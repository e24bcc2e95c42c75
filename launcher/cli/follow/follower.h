#pragma once
// Watches one job to its end: shows its state on the status line and its logs on our standard
// output and error, and handles Ctrl-C, a closed terminal, and a launcher that stops and comes
// back. It starts no job and prints no final report.

#include <functional>
#include <memory>
#include <optional>

#include "common/domain/messages/views.h"
#include "launcher/cli/follow/beside.h"
#include "launcher/cli/follow/log_merge.h"
#include "launcher/cli/follow/log_order.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/link/watch_lease.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

struct FollowOptions {
  JobId job;
  bool cancel_on_interrupt = false;  // false: Ctrl-C only detaches
  bool show_state = true;            // the status line, and lines for changes of the state
  bool leave_in_vain = false;        // a job that waits in vain is canceled, with its reason
  bool until_final = true;           // false: shows the logs until now, then stops
  bool is_over = false;              // for a pipeline: it is final already
  bool reused_logs = false;  // for a pipeline: also shows the logs of jobs that its steps reuse
  // The choice of logs; only rank, node_rank, stream, ranks_only, tail_lines, attempt and since are
  // used. An environment's log goes to standard error beside ranks' logs, and to standard output
  // when only it is requested.
  LogFollow filter;
  bool single_log = false;  // for the log of one rank or node: bytes pass through without a prefix
  bool no_prefix = false;   // whole lines of all logs, without a prefix
  bool timestamps = false;  // puts a time before each line
  std::function<bool(std::string_view)> wanted;  // lines to show; empty: all
  bool all_to_stderr = false;                    // standard output is needed for something else
  bool raw = false;                  // writes the logs' bytes unchanged, also to a terminal
  Beside* beside = nullptr;          // goes on as long, and is waited for; may be null
  bool without_logs = false;         // no logs are requested
  bool cancel_on_hang_up = false;    // false: SIGHUP only detaches
  std::function<void()> keep_nodes;  // called now and then while the job goes on; may be empty
  std::function<std::string()> how_to_start;  // restart hint for a stopped launcher; may be empty
  WatchLease::Limits watch = {};
  Duration logs_quiet = seconds(5);  // silence after a burst or the end; then ask again by offset
  Duration logs_after_end = seconds(30);  // silence after which the rest of the logs is given up
};

struct FollowEnd {
  // detached: by Ctrl-C, SIGTERM or ~. of a terminal of rank 0; hung_up: by SIGHUP, because the
  // terminal was closed
  enum class How { finished, detached, hung_up, output_closed };
  enum class Cancel { not_asked, unanswered, agreed };
  How how = How::finished;
  std::optional<JobView> job;  // the job's last known state
  bool interrupted = false;    // true: Ctrl-C was pressed
  Cancel cancel = Cancel::not_asked;
  bool in_vain = false;   // the job waited in vain, and so was canceled
  bool has_logs = false;  // a byte of the logs that were asked for came
};

// The destination of a log's bytes: standard output or standard error.
LogStream written_to(LogStream stream, const FollowOptions& options);
// Whether they go to a terminal that must not obey them; empty if none does.
std::function<bool(LogStream)> on_terminal(const Terminal& terminal, const FollowOptions& options);
// How the merged logs look; without prefixes.
MergeOptions merge_options(const Terminal& terminal, const FollowOptions& options, Instant now);
bool write_log(Terminal& terminal, const FollowOptions& options, LogStream stream,
               std::string_view bytes);

// `find_endpoint` tells where the launcher listens now; nullopt while there is none.
class Follower {
 public:
  using FindEndpoint = std::function<std::optional<Endpoint>()>;

  Follower(Connection& connection, Terminal& terminal, FindEndpoint find_endpoint,
           FollowOptions options);
  ~Follower();
  // Follows the job to its end. SIGINT, SIGTERM and SIGHUP must be blocked in all threads
  // (hold_interrupts). SIGTERM acts like Ctrl-C. SIGHUP only detaches, unless cancel_on_hang_up,
  // and is ignored if it was already ignored (nohup). A user who leaves a terminal beside the job
  // with ~. detaches from the job.
  Result<FollowEnd> run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
