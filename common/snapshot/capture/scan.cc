#include "common/snapshot/capture/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "common/base/quoted_name.h"
#include "common/domain/data/output_name.h"
#include "common/snapshot/capture/downloaded.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/capture/file_stat.h"
#include "common/snapshot/capture/scanner.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

namespace {

constexpr std::size_t kManyFiles = 8;  // folders with fewer files are examined in place

using Name = Scanner::Name;

// Returns 0, or the errno of the failure.
int names_in(int fd, std::vector<Name>& names) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (!stream) {
    const int failed = errno;
    if (copy >= 0) ::close(copy);
    return failed;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.push_back({std::string(name), entry->d_type});
  }
  if (errno != 0) return errno;
  std::sort(names.begin(), names.end(),
            [](const Name& a, const Name& b) { return a.text < b.text; });
  return 0;
}

// The mark that overlayfs sets, mounted by root or in a user namespace.
bool is_opaque(int folder) {
  char value = 0;
  for (const char* name : {"trusted.overlay.opaque", "user.overlay.opaque"})
    if (::fgetxattr(folder, name, &value, 1) == 1 && value == 'y') return true;
  return false;
}

bool holds(const std::vector<Name>& names, std::string_view wanted) {
  return std::any_of(names.begin(), names.end(), [&](const Name& n) { return n.text == wanted; });
}

}  // namespace

Error Scanner::cannot(std::string_view what, const std::string& path) const {
  const int errnum = errno;
  Error error =
      errno_error(errnum, fmt::format("cannot {} {}", what, quoted_name(directory_ + "/" + path)));
  if (errnum == EACCES || errnum == EPERM) {
    error.code = ErrorCode::permission_denied;
    error.message += "; make it readable or name it in .amlignore or .gitignore";
    if (links_ && links_->is_in_followed()) error.message += kKeepLinks;
  }
  return error;
}

Status Scanner::unreadable(std::string_view what, const std::string& path) {
  if (options_.is_source || path.empty() || !is_of_one_entry(errno)) return cannot(what, path);
  out_.skipped.push_back({path, "", 0, why_left_out(errno)});
  return {};
}

Status Scanner::unsupported(const std::string& path, const std::string& why) {
  if (options_.is_source)
    return make_error(ErrorCode::unsupported,
                      fmt::format("{} {}", quoted_name(directory_ + "/" + path), why));
  out_.skipped.push_back({path, "", 0, "it " + why});
  return {};
}

Status Scanner::run() {
  out_.folders.emplace_back();
  if (options_.is_upper) out_.folders[0].opaque = is_opaque(out_.root.get());
  if (options_.links == Links::follow) {
    const char* home = std::getenv("HOME");
    links_.emplace(directory_, options_.left_out, home == nullptr ? "" : home);
  }
  named_download_ = downloaded_from(out_.root.get());
  TRY(scan_folder(0, out_.root.get(), 0));
  return take_stats();
}

// Adds the files of a folder. For a source, many files at once are examined beside the walk. Other
// trees are read with the rights of the calling thread only.
Status Scanner::add_files(std::size_t index, int fd, std::vector<Name> names) {
  io::Fd copy;
  if (options_.is_source && names.size() >= kManyFiles) copy.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    for (const Name& name : names) TRY(add_other(index, fd, name));
    return {};
  }
  FolderToStat folder;
  folder.index = index;
  folder.fd = std::move(copy);
  folder.names.reserve(names.size());
  for (Name& name : names) folder.names.push_back(std::move(name.text));
  stats_.add(std::move(folder));
  return {};
}

Status Scanner::take_stats() {
  for (FolderToStat& folder : stats_.finish()) {
    out_.folders[folder.index].files = std::move(folder.files);
    for (const std::string& name : folder.odd)
      TRY(add_other(folder.index, folder.fd.get(), {name, DT_REG}));
  }
  for (auto& [index, file] : followed_files_) out_.folders[index].files.push_back(std::move(file));
  return {};
}

Status Scanner::scan_folder(std::size_t index, int fd, int depth) {
  const std::string path = out_.folders[index].path;
  std::vector<Name> names;
  errno = names_in(fd, names);
  if (errno != 0) return unreadable("list", path);
  const std::size_t outer = ignores_.size();
  if (options_.is_source)
    TRY(ignores_.enter(
        fd, path, [&](std::string_view name) { return holds(names, name); }, out_.report.notes));
  std::vector<Name> files;
  for (const Name& name : names) TRY(scan_entry(index, fd, name, depth, files));
  ignores_.resize_to(outer);
  return add_files(index, fd, std::move(files));
}

// Leaves out git's own files, files that a pattern names, and the folder where jobs keep named
// outputs; below a link, also keys.
bool Scanner::is_kept_out(const std::string& path, const Name& name, bool is_directory) {
  const bool is_key = links_ && links_->is_in_followed() && holds_keys(name.text);
  if (!options_.is_source && !is_key) return false;
  const char* why = name.text == ".git"       ? "git's own files"
                    : path == kReservedFolder ? "reserved for the outputs of jobs"
                    : is_key                  ? "keys are kept there, and a link led to it"
                                              : nullptr;
  if (why == nullptr)
    return ignores_.leaves_out(path, is_directory, out_.skipped, out_.report.notes);
  out_.skipped.push_back({is_directory ? path + "/" : path, "", 0, why});
  return true;
}

Status Scanner::scan_entry(std::size_t index, int fd, const Name& name, int depth,
                           std::vector<Name>& files) {
  const std::string path = out_.folders[index].path + name.text;
  unsigned char type = name.type;
  if (type == DT_UNKNOWN) {
    struct stat info {};
    if (::fstatat(fd, name.text.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? Status() : unreadable("stat", path);
    }
    type = static_cast<unsigned char>(IFTODT(info.st_mode));
  }
  if (is_kept_out(path, name, type == DT_DIR)) return {};
  if (out_.folders[index].followed >= 0) TRY(count_followed(index));
  if (type == DT_DIR) return enter_folder(index, fd, name, depth);
  if (type == DT_LNK) return add_link(index, fd, name.text, depth);
  if (type == DT_REG) {
    files.push_back({name.text, type});
    return {};
  }
  return add_other(index, fd, name);
}

Status Scanner::enter_folder(std::size_t index, int fd, const Name& name, int depth) {
  const std::string path = out_.folders[index].path + name.text;
  if (options_.selection != nullptr && !options_.selection->enters(path)) return {};
  const io::Fd folder(
      ::openat(fd, name.text.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) return {};  // removed since it was listed
  if (!folder && is_of_one_entry(errno) && !is_selected_folder(path)) return {};
  if (!folder) return unreadable("open", path + "/");
  return take_folder(index, folder, name.text, depth);
}

Status Scanner::take_folder(std::size_t index, const io::Fd& folder, const std::string& name,
                            int depth) {
  const std::string path = out_.folders[index].path + name;
  if (depth == kMaxTreeDepth)
    return unsupported(path + "/", fmt::format("is more than {} folders deep", kMaxTreeDepth));
  struct stat info {};
  if (::fstat(folder.get(), &info) != 0) return unreadable("stat", path + "/");
  if (info.st_dev == left_out_.st_dev && info.st_ino == left_out_.st_ino) {
    out_.skipped.push_back({path + "/", "", 0, "Lockstep's own files and keys"});
    return {};
  }
  if (options_.is_source && is_left_download(folder)) {
    out_.skipped.push_back({path + "/", "", 0, kDownloaded});
    return {};
  }
  const std::size_t child = out_.folders.size();
  out_.folders.emplace_back();
  out_.folders[child].path = path + "/";
  out_.folders[child].name = name;
  out_.folders[child].followed = out_.folders[index].followed;
  out_.folders[child].mode = info.st_mode & 07777;
  if (options_.is_upper) out_.folders[child].opaque = is_opaque(folder.get());
  out_.folders[index].folders.push_back(child);
  TRY(scan_folder(child, folder.get(), depth + 1));
  drop_if_empty(index, child, info);
  return {};
}

// Whether a folder is a download that is left out. If a download is the source itself, or a link
// leads to it, its folders are marked, too.
bool Scanner::is_left_download(const io::Fd& folder) const {
  const auto owner = downloaded_from(folder.get());
  return owner && owner != named_download_;
}

bool Scanner::is_selected(const std::string& path, const struct stat& info) {
  return options_.selection == nullptr || options_.selection->takes(path, info);
}

// Keeps errno unchanged.
bool Scanner::is_selected_folder(const std::string& path) {
  const int errnum = errno;
  struct stat folder {};
  folder.st_mode = S_IFDIR;
  const bool selected = is_selected(path, folder);
  errno = errnum;
  return selected;
}

// Drops a folder that was only entered to find selected files, and has none. It is the last one,
// because its content was dropped before.
void Scanner::drop_if_empty(std::size_t index, std::size_t child, const struct stat& info) {
  const ScannedFolder& folder = out_.folders[child];
  const bool is_empty = folder.files.empty() && folder.links.empty() && folder.folders.empty();
  if (options_.selection == nullptr || !is_empty) return;
  if (is_selected(folder.path.substr(0, folder.path.size() - 1), info)) return;
  out_.folders.pop_back();
  out_.folders[index].folders.pop_back();
}

Status Scanner::add_link(std::size_t index, int fd, const std::string& name, int depth) {
  const std::string path = out_.folders[index].path + name;
  struct stat link {};
  link.st_mode = S_IFLNK;
  if (!is_selected(path, link)) return {};
  char target[kMaxTargetBytes + 1];
  const ssize_t size = ::readlinkat(fd, name.c_str(), target, sizeof target);
  if (size < 0) return errno == ENOENT ? Status() : unreadable("read the symlink", path);
  if (size == 0 || size > static_cast<ssize_t>(kMaxTargetBytes))
    return unsupported(path, fmt::format("is a symlink with a target of {} bytes", size));
  return take_link(index, name, std::string(target, static_cast<std::size_t>(size)), depth);
}

Status Scanner::add_other(std::size_t index, int fd, const Name& name) {
  const std::string path = out_.folders[index].path + name.text;
  struct stat info {};
  if (::fstatat(fd, name.text.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : unreadable("stat", path);
  }
  if (options_.is_upper && S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0)) {
    out_.folders[index].whiteouts.push_back(name.text);
    return {};
  }
  if (!is_selected(path, info)) return {};
  if (S_ISREG(info.st_mode)) {
    if (!options_.is_source && ::faccessat(fd, name.text.c_str(), R_OK, AT_EACCESS) != 0)
      return errno == ENOENT ? Status() : unreadable("read", path);
    out_.folders[index].files.push_back({name.text, info.st_mode & 07777, identity_of(info)});
    return {};
  }
  const char* what = S_ISSOCK(info.st_mode)                           ? kSocket
                     : S_ISFIFO(info.st_mode)                         ? "a fifo"
                     : S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) ? "a device"
                                                                      : "changed while it was read";
  out_.skipped.push_back({path, "", 0, what});
  return {};
}

Result<Scan> scan(const std::string& directory, const ScanOptions& options) {
  io::Fd root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    const auto code = errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::io;
    return make_error(code, errno_error(errno, "cannot open " + directory).message);
  }
  return scan(std::move(root), directory, options);
}

Result<Scan> scan(io::Fd root, const std::string& directory, const ScanOptions& options) {
  Scan result;
  result.root = std::move(root);
  TRY(Scanner(directory, options, result).run());
  return result;
}

}  // namespace lockstep::snapshot
