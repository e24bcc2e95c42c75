#include "common/io/attempt/log_times.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr std::uint64_t kRecordBytes = LogTimes::kEntryBytes;
constexpr std::size_t kRecordsPerRead = 4'096;
constexpr std::uint64_t kBlockBytes = 4'096;

void put(std::string* out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}
std::uint64_t get(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}
LogTime decode(std::string_view record) {
  return {get(record), Instant{static_cast<std::int64_t>(get(record.substr(8)))}};
}

// The records of an open file. Freed records read as zeros, which are smaller than anything that is
// searched.
class Records {
 public:
  explicit Records(const std::string& path) {
    auto file = open_file(path, O_RDONLY);
    struct stat info {};
    if (!file || ::fstat(file->get(), &info) != 0) return;
    file_ = *std::move(file);
    count_ = static_cast<std::uint64_t>(info.st_size) / kRecordBytes;
  }
  std::uint64_t count() const { return count_; }

  std::vector<LogTime> read(std::uint64_t first, std::size_t most) const {
    const auto wanted = std::min<std::uint64_t>(most, count_ - std::min(first, count_));
    std::string bytes(wanted * kRecordBytes, '\0');
    const ssize_t got =
        ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(first * kRecordBytes));
    std::vector<LogTime> records;
    for (std::size_t at = 0; got > 0 && at + kRecordBytes <= static_cast<std::size_t>(got);
         at += kRecordBytes)
      records.push_back(decode(std::string_view(bytes).substr(at, kRecordBytes)));
    return records;
  }

  // The first record for which `reached` holds; count() if none. If it holds for a record, it holds
  // for all later ones.
  template <typename Reached>
  std::uint64_t find(const Reached& reached) const {
    std::uint64_t low = 0, high = count_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const auto record = read(middle, 1);
      if (record.empty()) return count_;
      if (reached(record[0])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

 private:
  Fd file_;
  std::uint64_t count_ = 0;
};

}  // namespace

Status LogTimes::append(const std::vector<LogTime>& entries, int mode) {
  if (entries.empty()) return {};
  if (!appended_) {
    TRY_ASSIGN(appended_, open_file(path_, O_WRONLY | O_CREAT | O_CLOEXEC, mode));
  }
  struct stat info {};
  if (::fstat(appended_.get(), &info) != 0) return errno_error(errno, "fstat " + path_);
  // The rest of an incomplete record, left by a full disk or a crash, is overwritten.
  const std::uint64_t end = static_cast<std::uint64_t>(info.st_size) / kRecordBytes * kRecordBytes;
  std::string bytes;
  for (const LogTime& entry : entries) {
    put(&bytes, entry.offset);
    put(&bytes, static_cast<std::uint64_t>(entry.at.ns));
  }
  const ssize_t written =
      disk::pwrite(appended_.get(), bytes.data(), bytes.size(), static_cast<off_t>(end));
  if (written != static_cast<ssize_t>(bytes.size()))
    return errno_error(written < 0 ? errno : ENOSPC, "write " + path_);
  return {};
}

Instant LogTimes::at(std::uint64_t offset) const {
  const auto covering = between(offset, offset + 1, 1, true);
  return covering.empty() ? Instant{} : covering[0].at;
}

std::vector<LogTime> LogTimes::between(std::uint64_t begin, std::uint64_t end, std::size_t most,
                                       bool covering) const {
  const Records records(path_);
  std::uint64_t first =
      records.find([&](const LogTime& time) { return time.offset >= begin && time.at.ns != 0; });
  const auto exact = records.read(first, 1);
  const bool begins_here = !exact.empty() && exact[0].offset == begin;
  if (covering && !begins_here && first > 0) --first;
  const std::uint64_t last = records.find([&](const LogTime& time) { return time.offset >= end; });
  std::vector<LogTime> found;
  if (last <= first) return found;
  const std::uint64_t step = (last - first + most - 1) / most;
  for (std::uint64_t at = first; at < last && found.size() < most;) {
    const auto part = records.read(at, std::min<std::uint64_t>(last - at, kRecordsPerRead));
    if (part.empty()) break;
    for (std::size_t i = 0; i < part.size(); i += step) {
      const bool grows =
          found.empty() || (part[i].offset > found.back().offset && part[i].at >= found.back().at);
      if (part[i].at.ns > 0 && part[i].offset < end && grows) found.push_back(part[i]);
    }
    at += (part.size() + step - 1) / step * step;
  }
  return found;
}

std::optional<std::uint64_t> LogTimes::first_since(Instant since) const {
  const Records records(path_);
  // The bytes of an entry may be later by one step. In a damaged file the times may be anything.
  const std::int64_t step = std::chrono::nanoseconds(kLogTimeStep).count();
  const std::int64_t later_than = std::max(since.ns, step) - step;
  const std::uint64_t at =
      records.find([&](const LogTime& time) { return time.at.ns > later_than; });
  const auto record = records.read(at, 1);
  if (record.empty()) return std::nullopt;
  return record[0].offset;
}

bool LogTimes::known() const { return Records(path_).count() > 0; }

void LogTimes::free_before(std::uint64_t offset) {
  const Records records(path_);
  std::uint64_t first = records.find([&](const LogTime& time) { return time.offset >= offset; });
  first -= std::min<std::uint64_t>(first, 1);  // the record that the next byte belongs to
  const std::uint64_t end = first * kRecordBytes / kBlockBytes * kBlockBytes;
  if (end == 0) return;
  const auto file = open_file(path_, O_WRONLY | O_CLOEXEC);
  if (file)
    (void)disk::fallocate(file->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          static_cast<off_t>(end));
}

}  // namespace lockstep::io
