#pragma once
// Starts runners. Each is forked from the template, a runner process that is kept ready
// (docs/decisions/018-runner-template.md); without a template, the program is executed. Either way
// the runner is not a child of the agent, has the same environment, and outlives both agent and
// template.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/ranks/limits.h"
#include "common/domain/targets/metrics.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/process.h"
#include "common/io/programs/fork_server.h"

namespace lockstep::agent {

struct RunnerProgram {
  std::string path;
  Bytes log_spool = gibibytes(1);
  LimitCaps caps = {};
  Duration sample_every = kSampleEvery;  // how often the use of the ranks is sampled; zero: never
  std::string probe_cache = {};          // folder for results of probes; "": none are kept
};

// All functions are for worker threads.
class RunnerStarter {
 public:
  // `attempts`: the directory that holds the attempt directories.
  RunnerStarter(RunnerProgram program, std::string attempts);

  // Starts the template, unless there is one, or the last one was started a moment ago and broke
  // before it served any runner.
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
  Template template_;      // guarded by mutex_, as are the members below
  bool starting_ = false;  // a thread is starting the template
  bool has_served_ = true;
  io::SystemClock clock_;
  Instant again_at_;  // the earliest start of another template, if this one has not served
};

}  // namespace lockstep::agent
