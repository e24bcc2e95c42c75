#include "runner/node/working_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/attempt/short_path.h"
#include "common/io/beneath.h"
#include "common/io/file_system.h"
#include "common/io/files/open_place.h"
#include "common/io/files/places.h"

namespace lockstep::runner {
namespace {

using Mode = WorkspacePlan::Mode;

bool has_other_than_folder(const io::Folder& folder, const std::string& name) {
  struct stat info {};
  return fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         !S_ISDIR(info.st_mode);
}

// Options of overlayfs are separated by ',' and ':'.
std::string escaped(const std::string& path) {
  std::string result;
  for (const char c : path) {
    if (c == ',' || c == ':' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result;
}

// The flags of a mount, which a remount must keep: in a user namespace they cannot be removed.
Result<unsigned long> flags_of_mount(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return errno_error(errno, "statvfs " + path);
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if ((info.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((info.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((info.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((info.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  return flags;
}

Status make_empty_file(const io::Folder& folder, const std::string& name) {
  const io::Fd made(
      io::open_beneath(folder.fd(), name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!made) return errno_error(errno, fmt::format("cannot make {}/{}", folder.shown(), name));
  return {};
}

// Whether the kernel has mount_setattr, which exists since Linux 5.12.
bool has_mount_setattr() {
  return ::syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0) != 0 && errno != ENOSYS;
}

// Restricts the mount at `path`, and with `below` the mounts below it.
Status restrict_mount(const std::string& path, bool is_writable, bool below) {
  if (below) {
    mount_attr wanted{};
    wanted.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (is_writable ? 0u : MOUNT_ATTR_RDONLY);
    if (::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), AT_RECURSIVE, &wanted,
                  sizeof wanted) != 0)
      return errno_error(errno, fmt::format("restrict the mount {}", path));
    return {};
  }
  TRY_ASSIGN(const unsigned long flags, flags_of_mount(path));
  if (::mount(nullptr, path.c_str(), nullptr,
              MS_BIND | MS_REMOUNT | flags | (is_writable ? 0 : MS_RDONLY), nullptr) != 0)
    return errno_error(errno, fmt::format("restrict the mount {}", path));
  return {};
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Workspace::Workspace(WorkspacePlan plan, io::AttemptDir directory, std::uint32_t uid,
                     std::uint32_t gid, const std::vector<OutputSpec>& outputs)
    : plan_(std::move(plan)), directory_(std::move(directory)), uid_(uid), gid_(gid) {
  for (const OutputSpec& output : outputs) folders_.push_back(named_output_folder(output.name));
  for (const StagedInput& input : plan_.inputs) folders_.push_back(input_folder(input.name));
  for (const PlacedInput& input : plan_.placed) folders_.push_back(input_folder(input.name));
  folders_.emplace_back(kCheckpointFolder);
}

Result<Workspace> Workspace::prepare(const WorkspacePlan& plan, const io::AttemptDir& directory,
                                     std::uint32_t uid, std::uint32_t gid,
                                     const std::vector<OutputSpec>& outputs,
                                     const io::User& reader) {
  Workspace workspace(plan, directory, uid, gid, outputs);
  workspace.reader_ = reader;
  // An ordinary user's runner already has that user's rights. In its user namespace, ids differ.
  if (geteuid() != 0) workspace.reader_.uid = 0;
  TRY_ASSIGN(const io::Folder attempt, io::Folder::open(directory.path()));
  TRY(attempt.make_for(name_of(directory.code()), {uid, gid}, 0700));
  if (workspace.is_overlay()) {
    TRY_ASSIGN(const io::Folder upper,
               attempt.make_for(name_of(directory.upper()), {uid, gid}, 0700));
    TRY(attempt.make_for(name_of(directory.overlay_work()), {geteuid(), getegid()}, 0700));
    // The merged root gets the owner of the upper directory, which must be the rank's user.
    if (uid != geteuid()) TRY(upper.give({uid, gid}, 0700));
  }
  for (const StagedInput& input : plan.inputs) {
    TRY_ASSIGN(const io::Folder inputs,
               attempt.make_for(name_of(directory.inputs()), {geteuid(), getegid()}, 0700));
    TRY(inputs.make_for(input.name, {geteuid(), getegid()}, 0700));
  }
  for (const PlacedInput& input : plan.placed) {
    TRY_ASSIGN(const io::Folder inputs,
               attempt.make_for(name_of(directory.inputs()), {geteuid(), getegid()}, 0700));
    TRY_ASSIGN(const io::Folder ours, inputs.make_for(input.name, {geteuid(), getegid()}, 0755));
    if (!input.file.empty()) TRY(make_empty_file(ours, input.file));
  }
  if (!plan.mount_point.empty()) {
    TRY(io::make_private_folders(parent_of(plan.mount_point)));
    const std::string path = io::short_path(directory);
    const Status made = path.empty() ? Status() : io::make_private_folders(parent_of(path));
    if (made)
      workspace.short_path_ = path;
    else
      spdlog::warn("{}; the paths of the ranks are long", made.error().message);
  }
  return workspace;
}

std::string Workspace::directory(bool mounted) const {
  return mounted && !plan_.mount_point.empty() ? plan_.mount_point : directory_.code();
}

std::string Workspace::attempt_directory(bool mounted) const {
  return mounted && !short_path_.empty() ? short_path_ : directory_.path();
}

Status Workspace::mount() const {
  if (is_overlay()) TRY(mount_overlay());
  TRY(make_job_directories(directory_.code()));
  for (const StagedInput& input : plan_.inputs) TRY(mount_input(input));
  for (const PlacedInput& input : plan_.placed)
    if (const Status mounted = mount_placed(input); !mounted)
      return mounted.error().within(fmt::format("input '{}'", input.name));
  if (!short_path_.empty()) TRY(bind_alone(directory_.path(), short_path_, MS_BIND));
  return plan_.mount_point.empty() ? Status{} : bind_common_path();
}

Status Workspace::use_in_place() const { return make_job_directories(directory_.code()); }

Status Workspace::mount_overlay() const {
  if (plan_.tree.empty()) {  // without a snapshot, files are written to the same place as with one
    if (::mount(directory_.upper().c_str(), directory_.code().c_str(), nullptr, MS_BIND, nullptr) !=
        0)
      return errno_error(errno,
                         fmt::format("bind {} to {}", directory_.upper(), directory_.code()));
    return {};
  }
  std::string options =
      fmt::format("lowerdir={},upperdir={},workdir={}", escaped(plan_.tree),
                  escaped(directory_.upper()), escaped(directory_.overlay_work()));
  // Outputs are read from the upper directory without the mount, so it must be complete: no renamed
  // folder that refers to the lower tree, and no file with metadata only. In a user namespace
  // overlayfs does neither.
  options += plan_.mode == Mode::overlay_userns ? ",userxattr" : ",redirect_dir=off,metacopy=off";
  if (::mount("lockstep", directory_.code().c_str(), "overlay", 0, options.c_str()) != 0)
    return errno_error(errno, fmt::format("mount overlay on {} ({})", directory_.code(), options));
  return {};
}

// Mounts an input read-only at a place where only we can rename, then moves it into the working
// directory by descriptor: its user could change a path meanwhile.
Status Workspace::mount_input(const StagedInput& input) const {
  const std::string ours = directory_.inputs() + "/" + input.name;
  if (::mount(input.tree.c_str(), ours.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return errno_error(errno, fmt::format("bind {} to {}", input.tree, ours));
  TRY_ASSIGN(const unsigned long flags, flags_of_mount(ours));
  if (::mount(nullptr, ours.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, nullptr) !=
      0)
    return errno_error(errno, fmt::format("make {} read-only", ours));
  return bind_into_working(ours, input.name);
}

Status Workspace::bind_into_working(const std::string& ours, const std::string& name) const {
  TRY_ASSIGN(const io::Folder working, io::Folder::open(directory_.code()));
  TRY_ASSIGN(const io::Folder target, working.enter(input_folder(name)));
  const std::string at = fmt::format("/proc/self/fd/{}", target.fd());
  if (::mount(ours.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return errno_error(errno, fmt::format("bind {} to {}", ours, target.shown()));
  return {};
}

// The descriptor is opened here, because mounts of another namespace cannot be bound. An ordinary
// user's runner has that user's rights anyway.
Status Workspace::mount_placed(const PlacedInput& input) const {
  TRY_ASSIGN(const io::OpenedPlace opened, io::open_place(input.place, reader_, input.is_writable));
  if (opened.is_folder != input.file.empty())
    return make_error(ErrorCode::conflict, input.place.whole() + " has changed its kind");
  std::string ours = directory_.inputs() + "/" + input.name;
  const std::string at = input.file.empty() ? ours : ours + "/" + input.file;
  const std::string from = fmt::format("/proc/self/fd/{}", opened.fd.get());
  const bool with_submounts = has_mount_setattr();
  if (::mount(from.c_str(), at.c_str(), nullptr, MS_BIND | (with_submounts ? MS_REC : 0),
              nullptr) != 0)
    return errno_error(errno, fmt::format("bind {} to {}", input.place.whole(), at));
  TRY(restrict_mount(at, input.is_writable, with_submounts));
  return bind_into_working(ours, input.name);
}

Status Workspace::bind_common_path() const {
  return bind_alone(directory_.code(), plan_.mount_point, MS_BIND | MS_REC);
}

// The target is in a tmpfs that only this namespace sees. So only one empty parent directory stays
// on the host, and another node of this host cannot remove the mount by rmdir.
Status Workspace::bind_alone(const std::string& bound, const std::string& target,
                             unsigned long flags) const {
  const io::Fd source(open(bound.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!source) return errno_error(errno, bound);
  const std::string parent = parent_of(target);
  if (::mount("lockstep", parent.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") != 0)
    return errno_error(errno, "mount tmpfs on " + parent);
  if (mkdir(target.c_str(), 0755) != 0) return errno_error(errno, "make directory " + target);
  const std::string from = fmt::format("/proc/self/fd/{}", source.get());
  if (::mount(from.c_str(), target.c_str(), nullptr, flags, nullptr) != 0)
    return errno_error(errno, fmt::format("bind {} to {}", bound, target));
  return {};
}

// The user already owns the working directory, and may rename entries in it at any time.
Status Workspace::make_job_directories(const std::string& below) const {
  TRY_ASSIGN(const io::Folder working, io::Folder::open(below));
  for (const std::string_view name : {kOutputsFolder, kLogsFolder}) {
    // If the snapshot has something else there, it stays; collecting the outputs reports it.
    if (has_other_than_folder(working, std::string(name))) continue;
    TRY(working.make_for(std::string(name), {uid_, gid_}, 0755));
  }
  for (const std::string& folder : folders_) TRY(make_folders(working, folder));
  return {};
}

// Makes each folder by itself without following symlinks: a forged snapshot may hold some.
Status Workspace::make_folders(const io::Folder& working, const std::string& folder) const {
  TRY_ASSIGN(io::Folder at, io::Folder::open(working.shown()));
  for (std::size_t from = 0; from <= folder.size();) {
    const auto slash = std::min(folder.find('/', from), folder.size());
    const std::string name = folder.substr(from, slash - from);
    if (has_other_than_folder(at, name))
      return make_error(
          ErrorCode::already_exists,
          fmt::format("{}/{} is reserved for Lockstep, but the snapshot has a file or a link there",
                      working.shown(), folder));
    TRY_ASSIGN(at, at.make_for(name, {uid_, gid_}, 0755));
    from = slash + 1;
  }
  return {};
}

}  // namespace lockstep::runner
