#include "launcher/tools/home_lock.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
#include "common/io/version_file.h"
#include "launcher/endpoint_file.h"

namespace lockstep::launcher {

Result<io::FileLock> lock_home(const LauncherHome& home) {
  TRY_ASSIGN(auto lock, io::FileLock::try_acquire(home.lock()));
  if (lock) return std::move(*lock);
  const auto other = read_endpoint_file(home.endpoint());
  return make_error(
      ErrorCode::conflict,
      fmt::format("another lockstepd (pid {}) has {}; end it with `lockstep down`, or "
                  "choose another --home",
                  other ? std::to_string(other->pid) : "unknown", home.path()));
}

Status expect_home(const LauncherHome& home) {
  if (!io::exists(home.path()))
    return make_error(ErrorCode::not_found,
                      fmt::format("there is no {}; name the home of a launcher with --home (that "
                                  "of the local one is ~/.lockstep/launcher)",
                                  quoted_name(home.path())));
  if (!io::exists(home.journal()))
    return make_error(ErrorCode::not_found,
                      fmt::format("{} is not the home of a launcher: it has no journal.db; name it "
                                  "with --home",
                                  home.path()));
  return io::expect_version(home.version(), kHomeVersion, "launcher's home");
}

}  // namespace lockstep::launcher
