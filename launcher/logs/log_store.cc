#include "launcher/logs/log_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/attempt/log_times.h"
#include "common/io/disk.h"

namespace lockstep::launcher {

namespace {

Status write_at(int fd, std::string_view data, std::uint64_t offset, const std::string& path) {
  while (!data.empty()) {
    const ssize_t n = io::disk::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(errno, "cannot write " + path);
    data.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace

std::vector<std::pair<LogKey, std::uint64_t>> logs_of(const AttemptId& attempt,
                                                      const LogSize& sizes) {
  std::vector<std::pair<LogKey, std::uint64_t>> logs;
  const auto add = [&](LogStream stream, std::uint64_t size) {
    if (size > 0) logs.emplace_back(LogKey{attempt, sizes.rank, stream}, size);
  };
  add(LogStream::out, sizes.stdout_bytes);
  add(LogStream::err, sizes.stderr_bytes);
  add(LogStream::environment, sizes.environment_bytes);
  return logs;
}

Status SyncBatch::sync() const {
  for (const auto& item : items)
    if (io::disk::fdatasync(item.file->get()) != 0)
      return errno_error(errno, "cannot sync the log of " + owner_of(item.key));
  for (const auto& path : directories) {
    const auto directory = io::open_file(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // The log was deleted meanwhile.
    if (!directory && directory.error().code == ErrorCode::not_found) continue;
    if (!directory) return directory.error();
    if (io::disk::fsync(directory->get()) != 0) return errno_error(errno, "cannot sync " + path);
  }
  return {};
}

std::string LogStore::name_of(const AttemptId& attempt) {
  const std::string incarnation =
      attempt.incarnation == 0 ? "" : fmt::format("-{}", attempt.incarnation);
  return fmt::format("{}{}", attempt.number, incarnation);
}

std::string LogStore::directory(const AttemptId& attempt) const {
  return fmt::format("{}/{}/{}", root_, attempt.job.value, name_of(attempt));
}

std::string LogStore::path(const LogKey& key) const {
  return directory(key.attempt) + "/" + io::AttemptDir::log_name(key.rank, key.stream);
}

void LogStore::close_idle() {
  for (auto& [key, file] : files_) {
    if (!file.fd || dirty_.count(key) != 0) continue;
    file.fd.reset();
    --open_;
  }
}

Result<std::shared_ptr<io::Fd>> LogStore::open(const LogKey& key, bool create) {
  const int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0);
  TRY_ASSIGN(auto fd, io::open_file(path(key), flags, 0600));
  ++open_;
  return std::make_shared<io::Fd>(std::move(fd));
}

Result<LogStore::File*> LogStore::find(const LogKey& key, bool create) {
  auto it = files_.find(key);
  if (it != files_.end() && it->second.fd) return &it->second;
  if (open_ >= max_open_) close_idle();
  const bool exists = io::exists(path(key));
  if (!exists && !create) return nullptr;
  const auto in = directory(key.attempt);
  if (!exists) TRY(io::make_directories(in, 0700));
  // There are new entries in the attempt's folder, and perhaps new folders of the attempt and the
  // job; or entries of an earlier process that ended before it made them durable.
  if (!exists || it == files_.end())
    for (const auto& folder : {in, root_ + "/" + key.attempt.job.value, root_})
      new_directories_.insert(folder);
  TRY_ASSIGN(auto fd, open(key, create));
  if (it == files_.end()) {
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) return errno_error(errno, "fstat " + path(key));
    it = files_.emplace(key, File{}).first;
    it->second.found = it->second.extent.written = static_cast<std::uint64_t>(info.st_size);
    if (info.st_size > 0) dirty_.insert(key);
  }
  it->second.fd = std::move(fd);
  return &it->second;
}

Result<LogExtent> LogStore::append(const LogKey& key, std::uint64_t offset, std::string_view data,
                                   const std::vector<LogTime>& times) {
  TRY_ASSIGN(File * file, find(key, !data.empty() && offset == 0));
  if (file == nullptr) return LogExtent{};
  auto& extent = file->extent;
  const std::uint64_t end = offset + data.size();
  if (offset > extent.written || end <= extent.written) return extent;
  data.remove_prefix(extent.written - offset);
  TRY(write_at(file->fd->get(), data, extent.written, path(key)));
  std::vector<LogTime> fresh;
  for (const LogTime& time : times) {
    if (time.offset < extent.written || time.offset >= end) continue;
    if (!file->newest) file->newest = time_at(key, extent.written);
    file->newest = std::max(*file->newest, time.at);
    fresh.push_back({time.offset, *file->newest});
  }
  // Times are for people, so a failure must not stop the log.
  (void)io::LogTimes(path(key)).append(fresh, 0600);
  extent.written = end;
  dirty_.insert(key);
  return extent;
}

Result<LogExtent> LogStore::extent(const LogKey& key) {
  if (const auto it = files_.find(key); it != files_.end()) return it->second.extent;
  TRY_ASSIGN(const File* file, find(key, false));
  return file ? file->extent : LogExtent{};
}

SyncBatch LogStore::take_dirty() {
  SyncBatch batch;
  for (const auto& key : dirty_) {
    const File& file = files_.at(key);
    batch.items.push_back({key, file.fd, file.extent.written});
  }
  dirty_.clear();
  batch.directories.assign(new_directories_.begin(), new_directories_.end());
  new_directories_.clear();
  return batch;
}

void LogStore::synced(const SyncBatch& batch) {
  for (const auto& item : batch.items)
    if (const auto it = files_.find(item.key); it != files_.end())
      it->second.extent.durable = std::max(it->second.extent.durable, item.size);
}

Status LogStore::cut_back(const SyncBatch& batch) {
  Status all;
  for (const auto& item : batch.items) {
    const auto it = files_.find(item.key);
    if (it == files_.end()) continue;
    const auto& file = it->second;
    const auto size = std::max(file.extent.durable, file.found);
    if (io::disk::ftruncate(item.file->get(), static_cast<off_t>(size)) != 0 && all)
      all = errno_error(errno, "cannot cut back " + path(item.key));
  }
  return all;
}

Result<std::string> LogStore::read(const LogKey& key, std::uint64_t offset, std::size_t limit) {
  TRY_ASSIGN(const File* file, find(key, false));
  if (file == nullptr || offset >= file->extent.written) return std::string();
  std::string data(std::min<std::uint64_t>(limit, file->extent.written - offset), '\0');
  for (;;) {
    const ssize_t n =
        ::pread(file->fd->get(), data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(errno, "cannot read " + path(key));
    data.resize(static_cast<std::size_t>(n));
    return data;
  }
}

Result<std::vector<LogKey>> LogStore::list(const AttemptId& attempt) const {
  std::vector<LogKey> keys;
  if (!io::exists(directory(attempt))) return keys;
  TRY_ASSIGN(const auto names, io::list_directory(directory(attempt)));
  for (const auto& name : names)
    if (const auto log = io::AttemptDir::parse_log_name(name))
      keys.push_back({attempt, log->first, log->second});
  return keys;
}

void LogStore::forget(const JobId& job) {
  auto it = files_.lower_bound(LogKey{{job, 0}, 0, LogStream::out});
  while (it != files_.end() && it->first.attempt.job == job) {
    if (dirty_.count(it->first) != 0) {
      ++it;
      continue;
    }
    if (it->second.fd) --open_;
    it = files_.erase(it);
  }
}

void LogStore::drop(const AttemptId& attempt) {
  auto it = files_.lower_bound(LogKey{attempt, 0, LogStream::out});
  while (it != files_.end() && it->first.attempt == attempt) {
    dirty_.erase(it->first);
    if (it->second.fd) --open_;
    it = files_.erase(it);
  }
  const std::string folder = directory(attempt);
  new_directories_.erase(folder);
}

}  // namespace lockstep::launcher
