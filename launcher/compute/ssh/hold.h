#pragma once
// `hold`: keeps a reverse tunnel up to each machine that has one, over one ssh for each.

#include <functional>

#include "launcher/compute/ssh/machine.h"

namespace lockstep::compute::ssh {

struct Holding {
  Host host;
  ClientFiles files;
};

// Keeps the tunnels until standard input or a signal ends it. Machines without a tunnel need
// nothing.
Status hold(const Call& call, const std::vector<Holding>& machines, Events& events);

// Runs `work` in a child, which gets SIGTERM when this process ends, however it ends: `work` can
// still end what it started. Returns the child's exit code. Before any thread is started.
int run_guarded(const std::function<int()>& work);

// The pauses between tries: 1 s, doubled each time up to 60 s. They start with 1 s again after
// something has been up for a minute.
class Backoff {
 public:
  Duration next(Duration was_up);

 private:
  Duration pause_{};
};

}  // namespace lockstep::compute::ssh
