#pragma once
// Writes into the attempt's directory by how much the machine's clock was set since the runner
// started (io::AttemptDir::clock_set). Logs have times of the runner's own clock, which is never
// set; with the note they can be compared with the clocks of the machine and of other nodes. Reads
// no clock.

#include <string>

#include "common/base/time.h"

namespace lockstep::runner {

class ClockNote {
 public:
  explicit ClockNote(std::string path) : path_(std::move(path)) {}

  // Notes the clock. `set_by`: by how much it was set, as measured now. If the note cannot be
  // written, the next call tries again.
  void measured(Duration set_by);

 private:
  const std::string path_;
  Duration noted_{0};
};

}  // namespace lockstep::runner
