#pragma once
// Starts runners: forks each from a runner that is kept ready (its template, see
// docs/decisions/018), or, while there is none, executes the program anew. Either way the runner is
// nobody's child, with the same environment, and outlives agent and template.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/limits.h"
#include "common/io/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/fork_server.h"
#include "common/io/process.h"

namespace lockstep::agent {

struct RunnerProgram {
  std::string path;
  Bytes log_spool = gibibytes(1);
  LimitCaps caps = {};
};

// For worker threads, all of it.
class RunnerStarter {
 public:
  // `attempts`: the directory of all attempts.
  RunnerStarter(RunnerProgram program, std::string attempts);

  // Starts the template, unless one runs, or the last one ended a short while ago without having
  // served.
  void keep_template();
  Result<io::ProcessIdentity> start(const io::AttemptDir& directory);

 private:
  using Template = std::shared_ptr<const io::ForkServer>;
  Template current() const;
  void drop(const Template& broken, const Error& why);
  io::DetachedStart plain_start() const;

  const RunnerProgram program_;
  const std::string attempts_;
  const std::map<std::string, std::string> environment_;
  mutable std::mutex mutex_;
  Template template_;      // guarded by mutex_, as is all below
  bool starting_ = false;  // one thread is at it
  bool has_served_ = true;
  io::SystemClock clock_;
  Instant again_at_;  // not before, when it has not served
};

}  // namespace lockstep::agent
