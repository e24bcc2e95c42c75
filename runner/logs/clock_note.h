#pragma once
// Notes in the attempt's directory by how much the machine's clock was set since the runner started
// (io::AttemptDir::clock_set). The times of logs are by the runner's own clock, which goes on
// evenly; with the note they can be compared with the machine's, and so with those of other nodes.
// Reads no clock.

#include <string>

#include "common/base/time.h"

namespace lockstep::runner {

class ClockNote {
 public:
  explicit ClockNote(std::string path) : path_(std::move(path)) {}

  // `set_by`: by how much it was set, as measured now. A note that cannot be written is tried again
  // by the next call.
  void measured(Duration set_by);

 private:
  const std::string path_;
  Duration noted_{0};
};

}  // namespace lockstep::runner
