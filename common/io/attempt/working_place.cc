#include "common/io/attempt/working_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/io/disk.h"
#include "common/io/files/places.h"

namespace lockstep::io {
namespace {

constexpr Bytes kMostText = kibibytes(8);  // the text is a path

std::string lock_of(const std::string& path) { return path + ".lock"; }
std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

Error move_error(int code, const std::string& from, const std::string& to) {
  return errno_error(code, fmt::format("move {} to {}", from, to));
}

// The holder of a lock removes the file when it releases the lock. A descriptor that was opened
// before then is of a removed file, so it does not count.
Result<Fd> try_lock(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  const std::string name = lock_of(path);
  for (;;) {
    Fd file(disk::open(name.c_str(), kFlags, 0600));
    if (!file) return errno_error(errno, "open " + name);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        return make_error(ErrorCode::conflict, path + " is in use by another attempt's runner");
      return errno_error(errno, "lock " + name);
    }
    struct stat ours {
    }, there{};
    if (::fstat(file.get(), &ours) != 0) return errno_error(errno, "stat " + name);
    if (::lstat(name.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev)
      return file;
  }
}

std::string text_of(const std::string& path) {
  return read_regular_file(path, kMostText).value_or("");
}

Status write_holder(const Fd& lock, const std::string& directory) {
  if (disk::ftruncate(lock.get(), 0) != 0) return errno_error(errno, "write a lock");
  if (disk::pwrite(lock.get(), directory.data(), directory.size(), 0) !=
      static_cast<ssize_t>(directory.size()))
    return errno_error(errno, "write a lock");
  return {};
}

void unlock(const std::string& path, Fd lock) {
  disk::unlink(lock_of(path).c_str());
  lock.reset();
}

// Moves back the folder of an attempt whose runner has ended; the caller holds the lock.
Status move_back(const std::string& path, const AttemptDir& directory) {
  if (!exists(path)) return {};
  if (!exists(directory.path()) || exists(directory.code())) return remove_tree(path);
  if (disk::rename(path.c_str(), directory.code().c_str()) != 0)
    return move_error(errno, path, directory.code());
  disk::unlink(directory.placed().c_str());
  return {};
}

}  // namespace

Result<WorkingPlace> WorkingPlace::take(const AttemptDir& directory, const std::string& path) {
  TRY(make_private_folders(parent_of(path)));
  TRY_ASSIGN(Fd lock, try_lock(path));
  if (const std::string before = text_of(lock_of(path)); !before.empty())
    TRY(move_back(path, AttemptDir(before)));
  else
    TRY(remove_tree(path));
  TRY(write_holder(lock, directory.path()));
  TRY(write_file_atomically(directory.placed(), path, 0600, false));
  if (disk::rename(directory.code().c_str(), path.c_str()) != 0) {
    const Error failed = move_error(errno, directory.code(), path);
    disk::unlink(directory.placed().c_str());
    unlock(path, std::move(lock));
    return failed;
  }
  return WorkingPlace(directory, path, std::move(lock));
}

Status WorkingPlace::give_back() {
  if (!lock_) return {};
  TRY(move_back(path_, directory_));
  unlock(path_, std::move(lock_));
  return {};
}

std::string working_directory(const AttemptDir& directory) {
  const std::string place = text_of(directory.placed());
  return !place.empty() && exists(place) ? place : directory.code();
}

Status bring_back(const AttemptDir& directory) {
  const std::string path = text_of(directory.placed());
  if (path.empty()) return {};
  auto lock = try_lock(path);
  const bool is_ours = text_of(lock_of(path)) == directory.path();
  if (!lock && lock.error().code == ErrorCode::conflict && is_ours)
    return make_error(ErrorCode::unavailable, path + " is in use by this attempt's runner");
  // The runner of another attempt has the lock now, and has moved our folder back before.
  if (!lock && lock.error().code == ErrorCode::conflict) return {};
  if (!lock && exists(path)) return lock.error();
  if (!lock) {  // the folder of the lock was removed
    disk::unlink(directory.placed().c_str());
    return {};
  }
  if (is_ours) TRY(move_back(path, directory));
  unlock(path, *std::move(lock));
  disk::unlink(directory.placed().c_str());
  return {};
}

std::string holder_of_place(const std::string& path) {
  const Fd file(disk::open(lock_of(path).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return "";
  return text_of(lock_of(path));
}

bool is_held_by_same_job(const std::string& path, const AttemptDir& directory, const JobId& job) {
  const std::string holder = holder_of_place(path);
  if (holder == directory.path() || parent_of(holder) != parent_of(directory.path())) return false;
  const auto attempt = AttemptDir::attempt_of(holder.substr(holder.rfind('/') + 1));
  return attempt && attempt->job == job;
}

std::vector<std::string> working_places(const AttemptDir& directory, const JobId& job) {
  std::vector<std::string> paths;
  if (const std::string common = code_mount_point(job); !common.empty()) paths.push_back(common);
  const std::string home = parent_of(parent_of(directory.path()));
  if (!home.empty()) paths.push_back(home + "/jobs/" + job_folder_name(job));
  return paths;
}

}  // namespace lockstep::io
