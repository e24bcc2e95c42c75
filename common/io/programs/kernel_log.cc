#include "common/io/programs/kernel_log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kKernelRecord = 8'192;  // the kernel writes no longer record
constexpr int kMostRecords = 20'000;          // more records than its buffer holds by default
constexpr Duration kNewsFor = minutes(1);
constexpr std::string_view kKilled = "Killed process ";

// The time by the clock of the kernel's log.
Duration up_time() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now.tv_sec);
}

}  // namespace

std::string killed_in_record(std::string_view record, int pid, Duration since) {
  const auto semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return "";
  std::string_view prefix = record.substr(0, semicolon);
  for (int field = 0; field < 2; ++field) {
    const auto comma = prefix.find(',');
    if (comma == std::string_view::npos) return "";
    prefix.remove_prefix(comma + 1);
  }
  std::int64_t microseconds = 0;
  const auto read = std::from_chars(prefix.data(), prefix.data() + prefix.size(), microseconds);
  if (read.ec != std::errc() || microseconds < since.count() / 1'000) return "";
  std::string_view text = record.substr(semicolon + 1);
  text = text.substr(0, text.find('\n'));
  const auto killed = text.find(kKilled);
  if (killed == std::string_view::npos) return "";
  const std::string_view whom = text.substr(killed + kKilled.size());
  return whom.starts_with(std::to_string(pid) + " ") ? cut(in_one_line(text), kMaxKernelLine) : "";
}

std::string kernel_on_killed(int pid) {
  const Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log) return "";
  const Duration since = up_time() - kNewsFor;
  std::array<char, kKernelRecord> record{};
  std::string newest;
  for (int count = 0; count < kMostRecords; ++count) {
    const ssize_t got = ::read(log.get(), record.data(), record.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;  // some records were overwritten
    if (got <= 0) break;
    const std::string_view all(record.data(), static_cast<std::size_t>(got));
    if (std::string found = killed_in_record(all, pid, since); !found.empty())
      newest = std::move(found);
  }
  return newest;
}

}  // namespace lockstep::io
