#pragma once
// One job watched to its end: its state on the status line, its logs on our standard output and
// error, Ctrl-C, and a launcher that goes away and comes back. It starts no job and prints no final
// report.

#include <functional>
#include <memory>
#include <optional>

#include "common/domain/views.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/log_merge.h"
#include "launcher/cli/terminal.h"

namespace lockstep::cli {

struct FollowOptions {
  JobId job;
  bool cancel_on_interrupt = false;  // else Ctrl-C only detaches
  bool show_state = true;            // status line, and lines for what happened
  bool until_final = true;           // false: what is logged now, then the end
  LogFollow filter;                  // rank, node_rank, stream, tail_lines, attempt
  bool single_rank = false;          // bytes pass through without a prefix
};

struct FollowEnd {
  enum class How { finished, detached, output_closed };
  How how = How::finished;
  std::optional<JobView> job;  // the last that was heard of it
  bool interrupted = false;    // Ctrl-C was pressed
};

// `find_endpoint` tells where the launcher listens now; nullopt while there is none.
class Follower {
 public:
  using FindEndpoint = std::function<std::optional<Endpoint>()>;

  Follower(Connection& connection, Terminal& terminal, FindEndpoint find_endpoint,
           FollowOptions options);
  ~Follower();
  // SIGINT and SIGTERM must be blocked in all threads.
  Result<FollowEnd> run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
