#include "common/io/files/act_as.h"

#include <grp.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lockstep::io {
namespace {

// Makes the system call: glibc's function would change every thread of the process.
bool set_groups_of_thread(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

}  // namespace

Result<ActAs> ActAs::begin(const User& user) {
  ActAs acting;
  if (::geteuid() != 0 || user.uid == 0) return acting;
  acting.groups_.resize(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(acting.groups_.size()), acting.groups_.data());
  if (count < 0) return errno_error(errno, "cannot read the groups of this process");
  acting.groups_.resize(static_cast<std::size_t>(count));
  if (!set_groups_of_thread({user.groups.begin(), user.groups.end()}))
    return errno_error(errno, "cannot set the groups of this thread to those of " + user.name);
  acting.active_ = true;
  ::setfsgid(user.gid);
  ::setfsuid(user.uid);
  // The calls report no errors. When they are called with an id that does not exist, they return
  // the current one.
  const bool became = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == user.uid &&
                      static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == user.gid;
  if (!became)
    return make_error(ErrorCode::permission_denied,
                      "cannot access files as " + user.name +
                          ": the kernel refused to set the user and group of this thread");
  return acting;
}

ActAs::ActAs(ActAs&& other) noexcept
    : active_(std::exchange(other.active_, false)), groups_(std::move(other.groups_)) {}

ActAs::~ActAs() {
  if (!active_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  static_cast<void>(set_groups_of_thread(groups_));
}

}  // namespace lockstep::io
