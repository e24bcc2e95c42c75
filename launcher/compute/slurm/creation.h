#pragma once
// `create` of a Slurm target: submits a job for each machine that has none, and waits a short while
// for all of them together.

#include <string>
#include <vector>

#include "launcher/compute/contract.h"
#include "launcher/compute/slurm/jobs.h"
#include "launcher/compute/slurm/place.h"

namespace lockstep::compute::slurm {

class Creation {
 public:
  Creation(const Request& request, const Settings& settings, const Place& place, std::string bundle,
           Events& events)
      : request_(request),
        settings_(settings),
        place_(place),
        bundle_(std::move(bundle)),
        events_(events) {}

  // The number of machines that failed. `jobs`: those that are there.
  int run(const Jobs& jobs);

 private:
  struct Task {
    compute::Machine machine;
    std::string job;  // "": none yet
    bool is_new = false;
    bool had_joined = false;  // joined before this call
    bool is_done = false;
  };

  void begin(Task& task, const Jobs& jobs);
  Attempt<void> submit_for(Task& task);
  void look_at(Task& task, const Jobs& jobs, bool is_last_look);
  void fail(Task& task, Failed why);

  const Request& request_;
  const Settings& settings_;
  const Place& place_;
  const std::string bundle_;
  Events& events_;
  int failures_ = 0;
};

// Reports the state of a machine's job. nullptr: the machine has no job.
void tell(const std::string& machine, const Job* job, Events& events);

}  // namespace lockstep::compute::slurm
