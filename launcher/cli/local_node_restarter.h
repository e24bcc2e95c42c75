#pragma once
// Keeps the local agents alive while a command line waits for a job: one that ended is started
// again, as at the beginning of a verb, and that is said. An agent that ends again and again is
// started less and less often. It never waits: not for the new agent, and not for another command
// line that starts or stops things.

#include "common/base/time.h"
#include "launcher/cli/local_home.h"
#include "launcher/cli/terminal.h"

namespace lockstep::cli {

class LocalNodeRestarter {
 public:
  LocalNodeRestarter(const LocalHome& home, Terminal& terminal)
      : home_(home), terminal_(terminal) {}
  // Cheap: reads pid files. To be called every second or so.
  void check(Instant now);

 private:
  static constexpr Duration kFirstPause = seconds(2);
  static constexpr Duration kLongestPause = seconds(60);

  const LocalHome& home_;
  Terminal& terminal_;
  Instant next_;  // nothing is started before
  Duration pause_ = kFirstPause;
};

}  // namespace lockstep::cli
