#include "agent/supervise/quarantine.h"

#include <spdlog/spdlog.h>

#include "agent/supervise/cleanup.h"
#include "common/io/beneath.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns where the directory is after that.
Result<std::string> set_aside(const AgentHome& home, const io::AttemptDir& directory) {
  TRY(io::make_directories(home.quarantine(), 0700));
  TRY_ASSIGN(const io::Folder attempts, io::Folder::open(home.attempts()));
  TRY_ASSIGN(const io::Folder quarantine, io::Folder::open(home.quarantine()));
  const std::string name = name_of(directory.path());
  std::string as;
  for (int number = 1; as.empty() || io::exists(home.quarantine() + "/" + as); ++number)
    as = name + "." + std::to_string(number);
  TRY(attempts.move(name, quarantine, as));
  return home.quarantine() + "/" + as;
}

}  // namespace

Status remove_or_set_aside(const AgentHome& home, const io::AttemptDir& directory,
                           const std::string& mount_point) {
  TRY(release_part(directory, mount_point));
  const Status removed = io::remove_tree(directory.path());
  if (removed) return {};
  const auto aside = set_aside(home, directory);
  if (!aside)
    return make_error(removed.error().code,
                      removed.error().message +
                          "; moving it to the quarantine also failed: " + aside.error().message);
  spdlog::error(
      "{}; moved it to {}, where each start of the agent and each hour try to remove it again: if "
      "that keeps failing, remove it by hand",
      removed.error().message, *aside);
  return {};
}

void empty_quarantine(const AgentHome& home) {
  const auto names = io::list_directory(home.quarantine());
  if (!names) return;  // nothing was ever set aside
  for (const std::string& name : *names) {
    const std::string path = home.quarantine() + "/" + name;
    Status removed = unmount_below(path);
    if (removed) removed = io::remove_tree(path);
    if (removed)
      spdlog::info("removed {} from the quarantine", path);
    else
      spdlog::error("{} still cannot be removed: {}", path, removed.error().message);
  }
}

}  // namespace lockstep::agent
