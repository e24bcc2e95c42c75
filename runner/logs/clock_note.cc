#include "runner/logs/clock_note.h"

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

// The smallest difference that is noted; a smaller one may be the time between reading the two
// clocks on a busy machine.
constexpr Duration kNotable = milliseconds(10);

}  // namespace

void ClockNote::measured(Duration set_by) {
  if (std::chrono::abs(set_by - noted_) < kNotable) return;
  if (io::write_file_atomically(path_, std::to_string(set_by.count()), 0644, false))
    noted_ = set_by;
}

}  // namespace lockstep::runner
