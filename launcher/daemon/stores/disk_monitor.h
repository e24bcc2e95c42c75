#pragma once
// Watches the disk of the launcher's home. If space is low, the launcher accepts no new work, and
// running jobs continue. If the disk is nearly full, the reserve file is removed and its space kept
// for the journal, so that the facts that end running jobs can still be committed; logs and outputs
// wait on their nodes. When there is space again, everything continues by itself.

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/files/disk_space.h"

namespace lockstep::launcher {

class DiskMonitor {
 public:
  enum class Level { well, low, full };
  struct Settings {
    std::string home;
    std::string reserve;       // the reserve's file
    Bytes low = {};            // 0: io::default_low_space
    Bytes reserve_bytes = {};  // 0: 64 MiB, or a twentieth of the file system if that is less
    std::function<Result<io::DiskSpace>(const std::string&)> measure = io::disk_space;
  };
  explicit DiskMonitor(Settings settings) : settings_(std::move(settings)) {}

  // Returns invalid_argument if --reserve or --low-space is half of the file system or more.
  Status expect_possible() const;
  // Measures at most every kLookEvery, and makes or removes the reserve file.
  void look(Instant now);
  // Removes the reserve at once, whatever was measured: a write has failed for lack of space.
  void give_all();

  Level level() const { return level_; }
  const io::DiskSpace& space() const { return space_; }
  Bytes low() const;
  // Why new work is refused; "" if it is accepted.
  std::string refusal() const;
  // Why jobs' logs and outputs must wait on their nodes; "" if they need not.
  std::string standstill() const;

 private:
  Bytes reserve_bytes() const;
  void decide();
  void release(const char* why);

  const Settings settings_;
  Level level_ = Level::well;
  io::DiskSpace space_;
  bool has_reserve_ = false;
  bool measured_ = false;
  Instant next_look_;
};

inline constexpr Duration kLookEvery = milliseconds(100);

}  // namespace lockstep::launcher
