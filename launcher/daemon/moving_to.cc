#include "launcher/daemon/moving_to.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/base/trimmed.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {
namespace {

LauncherAddress address_of(const Listen& there) {
  return {fmt::format("tcp://{}:{}", there.host, there.port),
          fmt::format("tcp://{}:{}", there.host, there.port + 1)};
}

}  // namespace

Status write_moving_to(const std::string& path, const Listen& there) {
  return io::write_file_atomically(path, address_of(there).control + "\n", 0600);
}

MovingTo::MovingTo(std::string path, LauncherAddress here)
    : path_(std::move(path)), addresses_{std::move(here)} {
  (void)look();
  if (addresses_.size() == 1 && !seen_.empty()) (void)io::disk::unlink(path_.c_str());
}

bool MovingTo::look() {
  const std::string text(trimmed(io::read_file(path_, kibibytes(4)).value_or("")));
  if (text == seen_) return false;
  seen_ = text;
  std::vector<LauncherAddress> now{addresses_.front()};
  const auto there = parse_moving_to(text);
  if (!text.empty() && !there) spdlog::error("{}: {}", path_, there.error().message);
  if (there && address_of(*there) != now.front()) now.push_back(address_of(*there));
  const bool is_news = now != addresses_;
  addresses_ = std::move(now);
  return is_news;
}

}  // namespace lockstep::launcher
