#pragma once
// Watches the disk of the launcher's home. With little space, no new work is accepted, and running
// jobs go on. With nearly none, the reserve file is released and only the journal may write, so
// that the end of running jobs can still be recorded; logs and outputs wait on their nodes.
// Everything resumes by itself when there is space again.

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/disk_space.h"

namespace lockstep::launcher {

class DiskMonitor {
 public:
  enum class Level { well, low, full };
  struct Settings {
    std::string home;
    std::string reserve;       // the file
    Bytes low = {};            // 0: io::default_low_space
    Bytes reserve_bytes = {};  // 0: 64 MiB, of a small file system a twentieth
    std::function<Result<io::DiskSpace>(const std::string&)> measure = io::disk_space;
  };
  explicit DiskMonitor(Settings settings) : settings_(std::move(settings)) {}

  // invalid_argument: the flags ask for more than the file system has in all.
  Status expect_possible() const;
  // At most every kLookEvery; makes, or gives back, the reserve.
  void look(Instant now);
  // Whatever is free: a write has failed for lack of space.
  void give_all();

  Level level() const { return level_; }
  const io::DiskSpace& space() const { return space_; }
  Bytes low() const;
  // Why new work is refused; "" when it is not.
  std::string refusal() const;
  // Why even what jobs wrote has to wait; "" when it has not.
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
