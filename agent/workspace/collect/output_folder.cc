#include "agent/workspace/collect/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/workspace/collect/rank_folders.h"
#include "common/base/quoted_name.h"
#include "common/io/attempt/working_place.h"
#include "common/io/beneath.h"
#include "common/io/disk.h"

namespace lockstep::agent {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit
constexpr int kTriesOfKernel = 16;

using What = Opened::What;

// System folders, never a job's own, even where root's jobs run as root.
constexpr std::array<std::string_view, 10> kSystem = {"/etc",   "/usr",  "/bin",  "/sbin", "/lib",
                                                      "/lib64", "/boot", "/proc", "/sys",  "/dev"};
constexpr const char* kMemory = "/dev/shm";

// Whether `path` is `folder` or in it.
bool is_within(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path == folder ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

bool is_of_system(const std::string& path) {
  return !is_within(path, kMemory) &&
         std::any_of(kSystem.begin(), kSystem.end(),
                     [&](std::string_view folder) { return is_within(path, std::string(folder)); });
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from < path.size();) {
    const auto slash = std::min(path.find('/', from), path.size());
    if (slash > from) names.push_back(path.substr(from, slash - from));
    from = slash + 1;
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "/"));
}

std::string link_target(int folder, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(folder, name.c_str(), target, sizeof target);
  return size <= 0 ? "" : std::string(target, static_cast<std::size_t>(size));
}

// Resolves a path name by name, and so knows what each part is.
class Resolver {
 public:
  Resolver(const io::Fd& base, const std::string& folder, const LinkRules& rules)
      : base_(base), wanted_(folder), rules_(rules) {}

  OutputFolder run();

 private:
  void prepend(const std::string& path);
  bool step(const std::string& name);  // false: result_ holds the outcome
  bool enter_link(const std::string& name);
  bool go_outside(std::string path);
  bool stop(What what, const std::string& why);
  bool refuse(const std::string& why);
  int here() const { return fds_.empty() ? base_.get() : fds_.back().get(); }
  void explain(int error);
  bool is_own(const io::Fd& fd) const;
  // The note for people, if the link leads to memory (/dev/shm).
  std::string of_memory() const {
    return is_within(target_, kMemory)
               ? ": an attempt's /dev/shm is its own and goes with its ranks"
               : "";
  }

  const io::Fd& base_;
  const std::string& wanted_;
  const LinkRules& rules_;
  std::vector<std::string> rest_;  // path parts still to resolve, in reverse
  std::vector<std::string> at_;
  std::vector<io::Fd> fds_;  // one descriptor for each part of `at_`
  int links_ = 0;
  std::string target_;  // target of the first link
  OutputFolder result_;
};

void Resolver::prepend(const std::string& path) {
  std::vector<std::string> names = components(path);
  rest_.insert(rest_.end(), std::make_move_iterator(names.rbegin()),
               std::make_move_iterator(names.rend()));
}

bool Resolver::stop(What what, const std::string& why) {
  result_.opened = {what, {}, why};
  return false;
}

bool Resolver::refuse(const std::string& why) {
  return stop(
      What::other,
      fmt::format("is a symlink to {}, {}: nothing in it is kept; make it a folder, or link "
                  "to a folder of the job's user",
                  quoted_name(target_), why));
}

bool Resolver::is_own(const io::Fd& fd) const {
  struct stat info {};
  return ::fstat(fd.get(), &info) == 0 && info.st_uid == rules_.owner;
}

void Resolver::explain(int error) {
  switch (error) {
    case ENOENT: refuse("which does not exist on this node"); return;
    case ENOTDIR: refuse("which is not a folder"); return;
    case EACCES:
    case EPERM: refuse("which the job's user may not read"); return;
    case ELOOP: refuse("which leads through a link of the kernel or in a circle"); return;
    default: refuse(errno_error(error, "which cannot be opened").message); return;
  }
}

bool Resolver::go_outside(std::string path) {
  if (rules_.in_container)
    return refuse("which is outside of the working directory, in the container");
  if (io::resolve_here() == io::Resolve::by_name)
    return refuse("which is outside of the working directory; this kernel cannot follow it safely");
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  io::Fd fd;
  for (int tries = 0; tries < kTriesOfKernel && !fd; ++tries) {
    fd = io::Fd(io::disk::openat2(AT_FDCWD, path.c_str(), how));
    if (!fd && errno != EAGAIN) break;
  }
  if (!fd) return explain(errno), false;
  if (!is_own(fd)) return refuse("which does not belong to the job's user");
  const std::string found = link_target(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd.get()));
  if (is_of_system(found)) return refuse("which is a folder of the system");
  const auto& all = rules_.working_directories;
  if (is_within(rules_.base, found) ||
      std::any_of(all.begin(), all.end(),
                  [&](const std::string& one) { return is_within(one, found); }))
    return refuse("which contains the job's own working directory");
  result_.opened = {What::folder, std::move(fd), ""};
  result_.folder.clear();
  return false;
}

bool Resolver::enter_link(const std::string& name) {
  const std::string target = link_target(here(), name);
  if (target_.empty()) target_ = target;
  result_.is_link = true;
  if (++links_ > kMostLinks) return refuse("which leads in a circle");
  const auto remaining = [&] {
    std::vector<std::string> names(rest_.rbegin(), rest_.rend());
    return names.empty() ? "" : "/" + joined(names);
  };
  if (target.empty()) return refuse("which cannot be read");
  if (target[0] != '/') {
    prepend(target);
    return true;
  }
  const auto& all = rules_.working_directories;
  const auto inside = std::find_if(all.begin(), all.end(),
                                   [&](const std::string& one) { return is_within(target, one); });
  if (inside == all.end()) return go_outside(target + remaining());
  at_.clear();
  fds_.clear();
  prepend(target.substr(inside->size()));
  return true;
}

bool Resolver::step(const std::string& name) {
  if (name == ".") return true;
  if (name == "..") {
    if (!at_.empty()) {
      at_.pop_back();
      fds_.pop_back();
      return true;
    }
    const std::string& top = rules_.working_directories.front();
    const std::string above = top.substr(0, top.rfind('/'));
    std::vector<std::string> names(rest_.rbegin(), rest_.rend());
    return go_outside(above + "/" + joined(names));
  }
  io::Fd next(::openat(here(), name.c_str(), kFolderFlags));
  if (next) {
    at_.push_back(name);
    fds_.push_back(std::move(next));
    return true;
  }
  struct stat info {};
  if (::fstatat(here(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    // The rest of the path may be in the tree below an overlay.
    at_.push_back(name);
    while (!rest_.empty()) {
      at_.push_back(std::move(rest_.back()));
      rest_.pop_back();
    }
    result_.folder = joined(at_);
    return stop(What::absent, "");
  }
  if (S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0)) return stop(What::hidden, "");
  if (S_ISLNK(info.st_mode)) return enter_link(name);
  const char* const why = S_ISDIR(info.st_mode) ? "cannot be read: permission denied"
                                                : "is not a folder; only a folder is kept";
  if (result_.is_link)
    return S_ISDIR(info.st_mode) ? refuse("which cannot be read: permission denied")
                                 : refuse("which is not a folder");
  return stop(What::other, why);
}

OutputFolder Resolver::run() {
  prepend(wanted_);
  while (!rest_.empty()) {
    const std::string name = std::move(rest_.back());
    rest_.pop_back();
    if (step(name)) continue;
    const bool dangles =
        result_.is_link && (result_.opened.what == What::hidden ||
                            (result_.opened.what == What::absent && result_.folder.empty()));
    if (dangles) refuse("which does not exist on this node" + of_memory());
    if (result_.opened.what == What::absent && result_.is_link)
      result_.opened.why = fmt::format("is a symlink to {}, which does not exist on this node{}",
                                       quoted_name(target_), of_memory());
    return std::move(result_);
  }
  result_.folder = joined(at_);
  const bool contains_itself = at_.empty() || is_within(wanted_, result_.folder);
  if (result_.is_link && contains_itself)
    refuse("which contains the job's own working directory or the link itself");
  else
    result_.opened = {What::folder, std::move(fds_.back()), ""};
  return std::move(result_);
}

}  // namespace

LinkRules link_rules(const Assignment& assignment, const WorkspacePlan& plan,
                     const io::AttemptDir& directory, const io::User& user) {
  LinkRules rules;
  std::vector<std::string>& all = rules.working_directories;
  if (!plan.mount_point.empty()) all.push_back(plan.mount_point);
  for (std::string& place : io::working_places(directory, assignment.attempt.job))
    all.push_back(std::move(place));
  all.push_back(directory.code());
  const std::unique_ptr<char, void (*)(void*)> real(
      ::realpath(written_below(plan, directory).c_str(), nullptr), ::free);
  rules.base = real ? real.get() : written_below(plan, directory);
  const auto& environment = assignment.spec.environment;
  rules.in_container =
      environment && std::holds_alternative<DockerEnvironment>(environment->definition);
  rules.owner = user.uid;
  return rules;
}

OutputFolder open_output(const io::Fd& base, const std::string& folder, const LinkRules& rules) {
  return Resolver(base, folder, rules).run();
}

}  // namespace lockstep::agent
