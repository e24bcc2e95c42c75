#include "runner/watch/proc/proc_texts.h"

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace lockstep::runner {
namespace {

constexpr std::size_t kMaxChannelBytes = 64;
constexpr std::size_t kMaxNameBytes = 64;

std::string_view next_field(std::string_view& text) {
  const std::size_t from = std::min(text.find_first_not_of(" \t\n"), text.size());
  text.remove_prefix(from);
  const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end);
  return field;
}

template <typename Number>
bool read_number(std::string_view field, Number* out, int base = 10) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), *out, base);
  return error == std::errc() && end == field.data() + field.size();
}

// Calls `take` with each line.
template <typename Take>
void each_proc_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The number after `key` and blanks, in the first line with that key.
std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view key) {
  std::optional<std::uint64_t> found;
  each_proc_line(text, [&](std::string_view line) {
    if (found || !line.starts_with(key)) return;
    line.remove_prefix(key.size());
    if (line.empty() || (line[0] != ' ' && line[0] != '\t')) return;
    if (std::uint64_t value = 0; read_number(next_field(line), &value)) found = value;
  });
  return found;
}

}  // namespace

// The name is in parentheses and may hold any character. Numbers of fields are as in proc(5); older
// kernels lack the last ones.
std::optional<ThreadStat> parse_thread_stat(std::string_view text) {
  constexpr int kParent = 4, kMinorFaults = 10, kMajorFaults = 12, kUserTime = 14, kSystemTime = 15,
                kThreads = 20, kStart = 22, kCpu = 39, kDiskWait = 42;
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  ThreadStat stat;
  std::string_view head = text.substr(0, open);
  if (!read_number(next_field(head), &stat.pid)) return std::nullopt;
  stat.name = text.substr(open + 1, std::min(close - open - 1, kMaxNameBytes));
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_field(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state[0];
  for (int field = kParent; field <= kDiskWait; ++field) {
    const std::string_view word = next_field(rest);
    if (word.empty() && field > kStart) break;
    std::uint64_t value = 0;
    const bool is_number = read_number(word, &value);
    const bool is_used = field == kParent || field == kMinorFaults || field == kMajorFaults ||
                         field == kUserTime || field == kSystemTime || field == kThreads ||
                         field == kStart;
    if (is_used && !is_number) return std::nullopt;
    if (field == kParent) stat.parent = static_cast<int>(value);
    if (field == kMinorFaults) stat.minor_faults = value;
    if (field == kMajorFaults) stat.major_faults = value;
    if (field == kUserTime || field == kSystemTime) stat.cpu_ticks += value;
    if (field == kThreads) stat.threads = static_cast<int>(value);
    if (field == kStart) stat.start_ticks = value;
    if (field == kCpu && is_number) stat.cpu = static_cast<int>(value);
    if (field == kDiskWait && is_number) stat.disk_wait_ticks = value;
  }
  return stat;
}

int parse_tracer(std::string_view status) {
  return static_cast<int>(number_behind(status, "TracerPid:").value_or(0));
}

bool catches_wakeups(std::string_view status) {
  constexpr int kFirstOfUsers = 34;  // glibc uses the two real-time signals before it
  std::uint64_t wakes = ~std::uint64_t{0} << (kFirstOfUsers - 1);
  for (const int signal : {SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO})
    wakes |= std::uint64_t{1} << (signal - 1);
  bool caught = false;
  each_proc_line(status, [&](std::string_view line) {
    constexpr std::string_view kKey = "SigCgt:";
    if (!line.starts_with(kKey)) return;
    line.remove_prefix(kKey.size());
    std::uint64_t mask = 0;
    caught = read_number(next_field(line), &mask, 16) && (mask & wakes) != 0;
  });
  return caught;
}

// "running", "-1 SP PC", or a number, six arguments, SP and PC.
std::optional<BlockedCall> parse_blocked_call(std::string_view text) {
  BlockedCall call;
  const std::string_view first = next_field(text);
  if (first == "running") return call;
  if (!read_number(first, &call.number)) return std::nullopt;
  if (call.number < 0) return call;
  for (std::uint64_t& argument : call.arguments) {
    const std::string_view word = next_field(text);
    if (!word.starts_with("0x") || !read_number(word.substr(2), &argument, 16)) return std::nullopt;
  }
  call.in_call = true;
  return call;
}

std::string parse_wait_channel(std::string_view text) {
  const std::string_view name = next_field(text);
  const bool is_name = !name.empty() && name != "0" && name.size() <= kMaxChannelBytes &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '_' || c == '.';
                       });
  return is_name ? std::string(name) : "";
}

std::optional<Duration> parse_queued(std::string_view schedstat) {
  next_field(schedstat);
  std::int64_t ns = 0;
  if (!read_number(next_field(schedstat), &ns) || ns < 0) return std::nullopt;
  return Duration(ns);
}

std::optional<CallBytes> parse_call_bytes(std::string_view io) {
  const auto read = number_behind(io, "rchar:"), written = number_behind(io, "wchar:");
  if (!read || !written) return std::nullopt;
  return CallBytes{*read, *written};
}

std::optional<Duration> parse_throttled(std::string_view cpu_stat) {
  if (const auto us = number_behind(cpu_stat, "throttled_usec"))
    return std::chrono::microseconds(static_cast<std::int64_t>(*us));
  if (const auto ns = number_behind(cpu_stat, "throttled_time"))
    return Duration(static_cast<std::int64_t>(*ns));
  return std::nullopt;
}

std::vector<int> parse_epoll_targets(std::string_view fdinfo, std::size_t most) {
  std::vector<int> targets;
  each_proc_line(fdinfo, [&](std::string_view line) {
    constexpr std::string_view kKey = "tfd:";
    if (!line.starts_with(kKey) || targets.size() >= most) return;
    line.remove_prefix(kKey.size());
    if (int fd = -1; read_number(next_field(line), &fd) && fd >= 0) targets.push_back(fd);
  });
  return targets;
}

}  // namespace lockstep::runner
