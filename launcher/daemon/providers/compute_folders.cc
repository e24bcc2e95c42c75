#include "launcher/daemon/providers/compute_folders.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {
namespace {

constexpr std::string_view kLogSuffix = ".log";

std::int64_t changed_at(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0
             ? std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec
             : 0;
}

}  // namespace

void ComputeFolders::clean() {
  const auto names = io::list_directory(home_.compute());
  if (!names) return;
  // A name with a dot is a log, or belongs to a run that has ended; names of targets have no dots.
  for (const std::string& name : *names) {
    const bool is_log = name.find(kLogSuffix) != std::string::npos && name[0] != '.';
    if (!is_log && !exists_(name)) remove(home_.compute() + "/" + name);
  }
  remove_old_logs();
}

void ComputeFolders::forget(const std::string& target) {
  // A new target of the same name may exist already.
  if (!exists_(target)) remove(home_.compute_state(target));
  remove_old_logs();
}

void ComputeFolders::remove_old_logs() {
  const auto names = io::list_directory(home_.compute());
  if (!names) return;
  std::set<std::string> gone;
  for (const std::string& name : *names) {
    const std::string target = name.substr(0, name.find('.'));
    const bool is_log = name == target + ".log" || name == target + ".log.old";
    if (!target.empty() && is_log && !exists_(target)) gone.insert(target);
  }
  if (gone.size() <= kKeptLogs) return;
  std::multimap<std::int64_t, std::string> by_age;
  for (const std::string& target : gone)
    by_age.emplace(
        std::max(changed_at(home_.compute_log(target)), changed_at(home_.old_compute_log(target))),
        target);
  for (auto it = by_age.begin(); by_age.size() > kKeptLogs; it = by_age.erase(it)) {
    io::disk::unlink(home_.compute_log(it->second).c_str());
    io::disk::unlink(home_.old_compute_log(it->second).c_str());
  }
}

void ComputeFolders::remove(const std::string& path) {
  if (!io::exists(path)) return;
  std::string gone;
  do {
    gone = home_.gone_compute(++last_);
  } while (io::exists(gone));
  if (io::disk::rename(path.c_str(), gone.c_str()) != 0) gone = path;
  worker_.run([gone] {
    if (const Status removed = io::remove_tree(gone); !removed)
      spdlog::warn("{}; it is removed when the launcher starts again", removed.error().message);
  });
}

}  // namespace lockstep::launcher
