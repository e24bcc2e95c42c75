#include "common/snapshot/capture/downloaded.h"

#include <fcntl.h>
#include <sys/xattr.h>

#include "common/io/file_system.h"

namespace lockstep::snapshot {

namespace {

constexpr char kAttribute[] = "user.lockstep.download";
constexpr std::size_t kLongestName = 1'024;

}  // namespace

bool mark_downloaded(const std::string& folder, const std::string& owner) {
  return ::setxattr(folder.c_str(), kAttribute, owner.data(), owner.size(), 0) == 0;
}

void pass_mark_on(int from, int to) {
  const auto job = downloaded_from(from);
  if (job) (void)::fsetxattr(to, kAttribute, job->data(), job->size(), 0);
}

std::optional<std::string> downloaded_from(int folder) {
  char name[kLongestName];
  const ssize_t size = ::fgetxattr(folder, kAttribute, name, sizeof name);
  if (size < 0) return std::nullopt;
  return std::string(name, static_cast<std::size_t>(size));
}

std::optional<std::string> downloaded_from(const std::string& folder) {
  const auto opened = io::open_file(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (!opened) return std::nullopt;
  return downloaded_from(opened->get());
}

}  // namespace lockstep::snapshot
