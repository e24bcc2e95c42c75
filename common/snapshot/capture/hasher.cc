#include "common/snapshot/capture/hasher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/capture/file_stat.h"

namespace lockstep::snapshot {
namespace {

constexpr int kMaxReadsOfAChangingFile = 5;
constexpr std::uint64_t kBytesPerThread = 16u << 20;
constexpr std::size_t kReadBytes = 256u << 10;

// Reads as much as one call returns, up to `size`; -1 and errno on failure, 0 at the end.
ssize_t read_some(int fd, char* to, std::size_t size, std::uint64_t offset) {
  for (;;) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got >= 0 || errno != EINTR) return got;
  }
}

// How much to read of a file of that size. One byte more shows that it grew; a file that grows all
// the time is not read for ever.
std::uint64_t beyond(std::uint64_t size) { return size == UINT64_MAX ? size : size + 1; }

}  // namespace

Status Hasher::run(const std::vector<ToHash>& work) {
  const auto threads = static_cast<std::size_t>(std::max(options_.hash_threads, 1));
  std::uint64_t bytes = 0;
  for (const ToHash& item : work)
    bytes += scan_.folders[item.folder].files[item.file].identity.size;
  const std::size_t worthwhile = std::max(work.size() / 8, bytes / kBytesPerThread) + 1;
  const auto count = std::min({threads, worthwhile, std::max<std::size_t>(work.size(), 1)});
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < count; ++i) others.emplace_back([&] { worker(work); });
  worker(work);
  for (std::thread& other : others) other.join();
  return first_error_;
}

void Hasher::take_out_skipped() {
  std::sort(left_out_.begin(), left_out_.end(), [](const LeftOut& one, const LeftOut& other) {
    const ToHash &a = one.item, &b = other.item;
    return a.folder != b.folder ? a.folder < b.folder : a.file > b.file;
  });
  for (const auto& [item, errnum] : left_out_) {
    ScannedFolder& folder = scan_.folders[item.folder];
    const auto at = static_cast<std::ptrdiff_t>(item.file);
    const std::string& name = folder.files[item.file].name;
    if (errnum == 0)
      folder.restless.push_back(name);
    else
      scan_.skipped.push_back({folder.path + name, "", 0, why_left_out(errnum)});
    folder.files.erase(folder.files.begin() + at);
    digests_[item.folder].erase(digests_[item.folder].begin() + at);
  }
}

void Hasher::worker(const std::vector<ToHash>& work) {
  std::string buffer(kReadBytes, '\0');
  for (std::size_t i = next_++; i < work.size() && !failed_; i = next_++) {
    Status hashed = hash(work[i], buffer);
    if (hashed) continue;
    std::lock_guard guard(mutex_);
    if (first_error_) first_error_ = std::move(hashed);
    failed_ = true;
  }
}

void Hasher::leave_out(const ToHash& item, int errnum) {
  std::lock_guard guard(mutex_);
  left_out_.push_back({item, errnum});
}

Status Hasher::unreadable(int errnum, const ToHash& item, const std::string& path) {
  if (options_.skip_unreadable && is_of_one_entry(errnum)) {
    leave_out(item, errnum);
    return {};
  }
  Error error = errno_error(errnum, "cannot read " + quoted_name(path));
  if (errnum == EACCES || errnum == EPERM) {
    error.code = ErrorCode::permission_denied;
    error.message += "; make it readable or name it in .amlignore or .gitignore";
  }
  return error;
}

bool Hasher::may_read_holes(std::uint64_t holes) {
  if (holes == 0) return true;
  std::uint64_t all = holes_;
  do {
    if (holes > options_.most_holes || all > options_.most_holes - holes) return false;
  } while (!holes_.compare_exchange_weak(all, all + holes));
  return true;
}

Status Hasher::hash(const ToHash& item, std::string& buffer) {
  const ScannedFolder& folder = scan_.folders[item.folder];
  const std::string relative = folder.path + folder.files[item.file].name;
  const std::string path = directory_ + "/" + relative;
  const io::Fd fd = open_captured(scan_.root.get(), scan_.report.followed, relative,
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!fd) return unreadable(errno, item, path);
  for (int reads = 0; reads < kMaxReadsOfAChangingFile; ++reads) {
    TRY_ASSIGN(const StatResult before, stat_of(fd.get(), path));
    if (!S_ISREG(before.mode)) break;
    if (!may_read_holes(before.holes)) return unreadable(EFBIG, item, path);
    Reading reading;
    const int failed = read(fd.get(), buffer, before.identity.size, reading);
    if (failed != 0) return unreadable(failed, item, path);
    if (options_.on_read) options_.on_read(relative);
    const auto after = stat_of(fd.get(), path);
    const bool as_it_was = after && (before.identity == after->identity || options_.is_growing);
    if (as_it_was && reading.size == before.identity.size)
      return accept(item, before.identity, after->mode & 07777, std::move(reading));
    drop(reading);
    if (!after) return after.error();
  }
  if (options_.skip_restless) {
    leave_out(item, 0);
    return {};
  }
  return make_error(ErrorCode::conflict,
                    fmt::format("{} changed during each of {} attempts to read it: wait until no "
                                "program writes to it, or name it in .amlignore or .gitignore",
                                quoted_name(path), kMaxReadsOfAChangingFile));
}

Status Hasher::accept(const ToHash& item, const FileIdentity& identity, std::uint32_t mode,
                      Reading reading) {
  ScannedFile& file = scan_.folders[item.folder].files[item.file];
  file.identity = identity;
  file.mode = mode;
  digests_[item.folder][item.file] = reading.digest;
  if (reading.content.data) options_.taker->take(reading.digest, std::move(reading.content));
  return {};
}

void Hasher::drop(Reading& reading) {
  if (reading.content.data) options_.taker->give_back(reading.content.size);
  reading.content = {};
}

int Hasher::read(int fd, std::string& buffer, std::uint64_t size, Reading& reading) {
  const bool is_taken = options_.taker != nullptr && size > 0 && options_.taker->make_room(size);
  const int failed =
      is_taken ? read_and_keep(fd, size, reading)
               : read_and_hash(fd, buffer, options_.is_growing ? size : beyond(size), reading);
  bytes_read_ += reading.size;
  if (failed != 0) drop(reading);
  return failed;
}

// Reads up to `size`: bytes beyond it show in the file's size afterwards.
int Hasher::read_and_keep(int fd, std::uint64_t size, Reading& reading) {
  reading.content = {std::unique_ptr<char[]>(new char[size]), size};
  Sha256 hash;
  while (reading.size < size) {
    char* const to = reading.content.data.get() + reading.size;
    const ssize_t got =
        read_some(fd, to, std::min<std::uint64_t>(kReadBytes, size - reading.size), reading.size);
    if (got < 0) return errno;
    if (got == 0) break;
    hash.update({to, static_cast<std::size_t>(got)});
    reading.size += static_cast<std::uint64_t>(got);
  }
  reading.digest = hash.finish();
  return 0;
}

int Hasher::read_and_hash(int fd, std::string& buffer, std::uint64_t most, Reading& reading) {
  Sha256 hash;
  while (reading.size < most) {
    const auto wanted = std::min<std::uint64_t>(buffer.size(), most - reading.size);
    const ssize_t got = read_some(fd, buffer.data(), wanted, reading.size);
    if (got < 0) return errno;
    if (got == 0) break;
    hash.update({buffer.data(), static_cast<std::size_t>(got)});
    reading.size += static_cast<std::uint64_t>(got);
  }
  reading.digest = hash.finish();
  return 0;
}

}  // namespace lockstep::snapshot
