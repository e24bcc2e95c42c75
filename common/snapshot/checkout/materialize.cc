#include "common/snapshot/checkout/materialize.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/files/sparse_file.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kFilesPerTask = 256;

// A folder to make, or (with `content`) a range of the files of a folder that exists.
struct Task {
  std::shared_ptr<const io::Fd> folder;  // the parent; with `content`: the folder itself
  std::string name;
  std::string path;  // path from the target, for errors; ends in '/', "": the target
  Digest digest;
  std::uint32_t mode = 0755;
  int depth = 0;
  std::shared_ptr<const Directory> content;
  std::size_t begin = 0, end = 0;
};

// Works on tasks with several threads, the newest task first, so that few folders are open.
class Writer {
 public:
  Writer(const BlobStore& blobs, const MaterializeOptions& options)
      : blobs_(blobs),
        owner_(options.owner),
        umask_(options.umask),
        for_all_(options.for_all),
        is_ours_(owner_.uid == current_owner().uid && owner_.gid == current_owner().gid) {}

  Status run(std::shared_ptr<const io::Fd> target, const Digest& root, int threads);

 private:
  void worker();
  Status perform(const Task& task);
  Status fill_folder(const Task& task, std::shared_ptr<const io::Fd> folder);
  Status write_files(const io::Fd& folder, const Task& task);
  Status write_file(int folder, const Entry& entry, const std::string& path);
  Status make_link(int folder, const Entry& entry, const std::string& path);
  std::uint32_t mode_of_file(std::uint32_t mode) const;
  Status finish_folder(int folder, const std::string& path, std::uint32_t mode);
  Status apply_late_modes(int target);
  void push(Task task);

  const BlobStore& blobs_;
  const Owner owner_;
  const std::uint32_t umask_;
  const bool for_all_;
  const bool is_ours_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Task> open_;
  std::size_t unfinished_ = 0;  // tasks in open_ and those in progress
  std::uint64_t entries_ = 0;
  Status first_error_;
  std::vector<std::pair<std::string, std::uint32_t>>
      late_modes_;  // folders that their owner cannot enter get their mode at the end
};

Status Writer::run(std::shared_ptr<const io::Fd> target, const Digest& root, int threads) {
  Task first;
  first.folder = target;
  first.digest = root;
  const std::uint32_t first_mode = first.mode;
  push(std::move(first));
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([this] { worker(); });
  worker();
  for (std::thread& other : others) other.join();
  TRY(std::move(first_error_));
  TRY(apply_late_modes(target->get()));
  return finish_folder(target->get(), "", first_mode);
}

void Writer::push(Task task) {
  {
    std::lock_guard guard(mutex_);
    open_.push_back(std::move(task));
    ++unfinished_;
  }
  changed_.notify_one();
}

void Writer::worker() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !open_.empty() || unfinished_ == 0 || !first_error_; });
      if (open_.empty() || !first_error_) return;
      task = std::move(open_.back());
      open_.pop_back();
    }
    Status done = perform(task);
    {
      std::lock_guard guard(mutex_);
      --unfinished_;
      if (!done && first_error_) first_error_ = std::move(done);
      if (unfinished_ != 0 && first_error_) continue;
    }
    changed_.notify_all();
  }
}

Status Writer::perform(const Task& task) {
  if (task.content) return write_files(*task.folder, task);
  if (task.depth > kMaxTreeDepth) {
    return make_error(ErrorCode::corrupt, fmt::format("{} is more than {} folders deep",
                                                      quoted_name(task.path), kMaxTreeDepth));
  }
  if (task.name.empty()) return fill_folder(task, task.folder);
  if (io::disk::mkdirat(task.folder->get(), task.name.c_str(), 0700) != 0) {
    return errno_error(errno, "cannot make the folder " + quoted_name(task.path));
  }
  auto folder = std::make_shared<io::Fd>(io::disk::openat(
      task.folder->get(), task.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!*folder) return errno_error(errno, "cannot open the folder " + quoted_name(task.path));
  return fill_folder(task, std::move(folder));
}

Status Writer::fill_folder(const Task& task, std::shared_ptr<const io::Fd> folder) {
  TRY_ASSIGN(const std::string bytes, blobs_.get(task.digest, {kMaxDirectoryObjectBytes}));
  TRY_ASSIGN(Directory decoded, decode_directory(bytes));
  const auto content = std::make_shared<const Directory>(std::move(decoded));
  const std::size_t count = content->entries.size();
  {
    std::lock_guard guard(mutex_);
    entries_ += count;
    if (entries_ > kMaxTreeEntries) {
      return make_error(ErrorCode::resource_exhausted,
                        fmt::format("the tree has more than {} entries", kMaxTreeEntries));
    }
  }
  if (task.depth > 0) {
    TRY(finish_folder(folder->get(), task.path, task.mode));
  }
  for (const Entry& entry : content->entries) {
    if (entry.kind != EntryKind::directory) continue;
    Task child;
    child.folder = folder;
    child.name = entry.name;
    child.path = task.path + entry.name + "/";
    child.digest = entry.digest;
    child.mode = entry.mode;
    child.depth = task.depth + 1;
    push(std::move(child));
  }
  for (std::size_t begin = 0; begin < count; begin += kFilesPerTask) {
    Task files;
    files.folder = folder;
    files.path = task.path;
    files.content = content;
    files.begin = begin;
    files.end = std::min(begin + kFilesPerTask, count);
    const bool is_last = files.end == count;
    if (is_last) return write_files(*folder, files);
    push(std::move(files));
  }
  return {};
}

Status Writer::write_files(const io::Fd& folder, const Task& task) {
  for (std::size_t i = task.begin; i < task.end; ++i) {
    const Entry& entry = task.content->entries[i];
    switch (entry.kind) {
      case EntryKind::file: TRY(write_file(folder.get(), entry, task.path + entry.name)); break;
      case EntryKind::symlink: TRY(make_link(folder.get(), entry, task.path + entry.name)); break;
      case EntryKind::directory: break;
    }
  }
  return {};
}

Status Writer::write_file(int folder, const Entry& entry, const std::string& path) {
  if (for_all_ && is_ours_ && blobs_.size(entry.digest) == entry.size) {
    TRY_ASSIGN(const bool is_linked,
               blobs_.link(entry.digest, folder, entry.name, mode_of_file(entry.mode)));
    if (is_linked) return {};
  }
  const io::Fd file(io::disk::openat(folder, entry.name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno_error(errno, "cannot make the file " + quoted_name(path));
  io::SparseWriter content(file.get());
  Status written =
      blobs_.stream(entry.digest, [&](std::string_view part) { return content.append(part); });
  if (written) written = content.finish();
  if (!written) return written.error().within(path);
  if (content.size() != entry.size) {
    return make_error(ErrorCode::corrupt,
                      fmt::format("{}: its folder entry says {} bytes, but its blob has {}",
                                  quoted_name(path), entry.size, content.size()));
  }
  if (!is_ours_ && io::disk::fchown(file.get(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + quoted_name(path));
  }
  if (io::disk::fchmod(file.get(), mode_of_file(entry.mode)) != 0) {
    return errno_error(errno, "cannot set the mode of " + quoted_name(path));
  }
  return {};
}

Status Writer::make_link(int folder, const Entry& entry, const std::string& path) {
  if (io::disk::symlinkat(entry.target.c_str(), folder, entry.name.c_str()) != 0) {
    return errno_error(errno, "cannot make the symlink " + quoted_name(path));
  }
  if (!is_ours_ && io::disk::fchown_link(folder, entry.name.c_str(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + quoted_name(path));
  }
  return {};
}

std::uint32_t Writer::mode_of_file(std::uint32_t mode) const {
  if (for_all_) return (mode & 0111) != 0 ? 0755 : 0644;
  return mode & 0777 & ~umask_;
}

Status Writer::finish_folder(int folder, const std::string& path, std::uint32_t mode) {
  if (!is_ours_ && io::disk::fchown(folder, owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + quoted_name(path));
  }
  mode = for_all_ ? 0755 : mode & 01777 & ~umask_;
  if ((mode & 0700) != 0700) {
    std::lock_guard guard(mutex_);
    late_modes_.emplace_back(path, mode);
    return {};
  }
  if (io::disk::fchmod(folder, mode) != 0)
    return errno_error(errno, "cannot set the mode of " + quoted_name(path));
  return {};
}

// Applies modes, children before parents. Only we can enter the top folder, so its future owner has
// changed nothing.
Status Writer::apply_late_modes(int target) {
  std::sort(late_modes_.begin(), late_modes_.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [path, mode] : late_modes_) {
    const io::Fd folder = open_entry(target, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!folder || io::disk::fchmod(folder.get(), mode) != 0)
      return errno_error(errno, "cannot set the mode of " + quoted_name(path));
  }
  return {};
}

// Closes a folder to others. If it was there before, it may be another user's, who may have it
// open.
Status close_to_others(int folder, const std::string& directory) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) return errno_error(errno, "cannot stat " + directory);
  if (info.st_uid != ::geteuid())
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("{} belongs to another account (uid {}); remove it", directory, info.st_uid));
  if ((info.st_mode & 077) == 0 || io::disk::fchmod(folder, 0700) == 0) return {};
  return errno_error(errno, "cannot set the mode of " + directory);
}

}  // namespace

Owner current_owner() { return {::geteuid(), ::getegid()}; }

Status materialize(const BlobStore& blobs, const Digest& root, const std::string& directory,
                   const MaterializeOptions& options) {
  if (io::disk::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error(errno, "cannot make " + directory);
  }
  auto target = std::make_shared<io::Fd>(
      io::disk::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!*target) return errno_error(errno, "cannot open " + directory);
  TRY(close_to_others(target->get(), directory));
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(directory));
  if (!names.empty()) {
    return make_error(ErrorCode::already_exists, directory + " is not empty");
  }
  auto written = Writer(blobs, options).run(target, root, std::max(options.threads, 1));
  if (!written) return written.error().within("cannot write the snapshot into " + directory);
  return {};
}

}  // namespace lockstep::snapshot
