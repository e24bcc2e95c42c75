#pragma once
// Keeps the local agents alive while a command line waits for a job: restarts an agent that ended,
// as at the beginning of a verb, and prints that it did. The pause before a restart grows
// while agents keep ending. It never waits for the new agent, or for another command line that
// starts or stops processes.

#include "common/base/time.h"
#include "launcher/cli/local/home.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

class LocalNodeRestarter {
 public:
  LocalNodeRestarter(const LocalHome& home, Terminal& terminal)
      : home_(home), terminal_(terminal) {}
  // Restarts dead nodes. It reads pid files, so it is cheap; call it about once a second.
  void check(Instant now);

 private:
  static constexpr Duration kFirstPause = seconds(2);
  static constexpr Duration kLongestPause = seconds(60);

  const LocalHome& home_;
  Terminal& terminal_;
  Instant next_;  // nothing is started before this time
  Duration pause_ = kFirstPause;
};

}  // namespace lockstep::cli
