#pragma once
// Writes the times of one log's bytes (io::LogTimes), and decides how close together they are.
// Between streams the times are all that is known of their order afterwards, so streams that take
// turns get a time for each turn. A stream whose times take too large a share of its log gets one
// only as often as a person could tell the difference. Reads no clock.

#include <cstdint>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/io/attempt/log_times.h"

namespace lockstep::runner {

class LogStamps {
 public:
  explicit LogStamps(const std::string& log_path) : times_(log_path) {}

  // The bytes from `offset` on were read at `now`; `is_alone`: no other stream of this node was
  // read since this one. Returns how many bytes were added to the file of times. A time that cannot
  // be written is left out: it is not worth a rank's wait.
  Bytes read_at(std::uint64_t offset, Instant now, bool is_alone);
  void free_before(std::uint64_t offset) { times_.free_before(offset); }
  Bytes size() const { return size_; }  // the size of the file, freed parts included

 private:
  io::LogTimes times_;
  Instant last_;
  Bytes size_;
};

}  // namespace lockstep::runner
