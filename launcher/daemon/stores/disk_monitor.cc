#include "launcher/daemon/stores/disk_monitor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/io/file_system.h"

namespace lockstep::launcher {

Bytes DiskMonitor::low() const {
  return settings_.low.count != 0 ? settings_.low : io::default_low_space(space_.total);
}

Bytes DiskMonitor::reserve_bytes() const {
  if (settings_.reserve_bytes.count != 0) return settings_.reserve_bytes;
  return Bytes{std::min(mebibytes(64).count, space_.total.count / 20)};
}

Status DiskMonitor::expect_possible() const {
  const auto space = settings_.measure(settings_.home);
  if (!space) return {};  // look() reports the error
  const std::uint64_t total = space->total.count;
  for (const auto& [flag, wanted] :
       {std::pair{"--reserve", settings_.reserve_bytes}, {"--low-space", settings_.low}})
    if (wanted.count >= total / 2)
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("{} {}: the file system of {} has {} in all; give less than half of its size",
                      flag, to_string(wanted), settings_.home, to_string(space->total)));
  return {};
}

void DiskMonitor::look(Instant now) {
  if (measured_ && now < next_look_) return;
  next_look_ = now + kLookEvery;
  const auto space = settings_.measure(settings_.home);
  if (!space) return spdlog::warn("{}", space.error().message);
  space_ = *space;
  // The reserve of an earlier process.
  if (!measured_) has_reserve_ = io::exists(settings_.reserve);
  measured_ = true;
  const Level before = level_;
  decide();
  if (level_ == before) return;
  if (level_ == Level::well)
    spdlog::info("{} has space again: the launcher accepts new work", settings_.home);
  if (level_ == Level::low) spdlog::warn("{}", refusal());
  if (level_ == Level::full) spdlog::error("{}", standstill());
}

// The free space without the reserve decides, so that making or releasing the reserve changes
// nothing.
void DiskMonitor::decide() {
  const std::uint64_t reserve = reserve_bytes().count, free = space_.free.count;
  const std::uint64_t floor = reserve / 4;
  if (has_reserve_) {
    if (free < floor) return release("the disk is nearly full");
    level_ = free < low().count ? Level::low : Level::well;
    return;
  }
  if (free < reserve + 2 * floor) {
    level_ = Level::full;
    return;
  }
  const Status made = io::make_reserve(settings_.reserve, reserve_bytes());
  has_reserve_ = made.has_value();
  if (!made) spdlog::warn("{}", made.error().message);
  if (has_reserve_) space_.free.count -= std::min(free, reserve);
  level_ = !has_reserve_ || space_.free < low() ? Level::low : Level::well;
}

void DiskMonitor::release(const char* why) {
  level_ = Level::full;
  has_reserve_ = false;
  if (io::release_reserve(settings_.reserve))
    spdlog::warn("{}: removed the reserve file {} to free its space", why, settings_.reserve);
}

void DiskMonitor::give_all() { release("a write failed because the disk is full"); }

std::string DiskMonitor::refusal() const {
  if (level_ == Level::well) return "";
  return fmt::format(
      "the launcher's disk is low: {} has {} free, and below {} the launcher accepts no new jobs, "
      "uploads or nodes (running jobs go on). Uploads that became no job, and files of deleted "
      "jobs, are removed automatically within a minute: try again then. If that is not enough, "
      "free space there, delete jobs that have ended (`lockstep job delete`; `lockstep quota list` "
      "shows admins whose jobs take most: job-files), remove environments "
      "that nothing uses (`lockstep environment prune --unused-for 0s`), or start lockstepd with a "
      "smaller --low-space",
      settings_.home, to_string(space_.free), to_string(low()));
}

std::string DiskMonitor::standstill() const {
  if (level_ != Level::full) return "";
  return fmt::format(
      "the launcher's disk is full: {} has no space left; logs and outputs wait on their nodes "
      "until there is some: free space there",
      settings_.home);
}

}  // namespace lockstep::launcher
