#include "agent/usage/node_texts.h"

#include <algorithm>
#include <charconv>

namespace lockstep::agent {
namespace {

// Splits a line into words, or a text into lines, one after another.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(word.size());
    return word;
  }
  std::optional<std::uint64_t> number() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size())
      return std::nullopt;
    return value;
  }

 private:
  std::string_view rest_;
};

template <typename Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    take(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

// "KEY NUMBER …" or "KEY: NUMBER …".
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key) {
  std::optional<std::uint64_t> found;
  each_line(text, [&](std::string_view line) {
    Words words(line);
    if (words.next() == key && !found) found = words.number();
  });
  return found;
}

// "cpu12" -> 12.
std::optional<int> cpu_number(std::string_view word) {
  constexpr std::string_view kPrefix = "cpu";
  if (!word.starts_with(kPrefix)) return std::nullopt;
  word.remove_prefix(kPrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

// The columns are user, nice, system, idle, iowait, irq, softirq, steal; guests are in user.
std::optional<std::uint64_t> busy_ticks(std::string_view stat, const std::set<int>& cpus) {
  constexpr int kColumns = 8, kIdle = 3, kWaits = 4;
  std::uint64_t sum = 0;
  bool any = false;
  each_line(stat, [&](std::string_view line) {
    Words words(line);
    const auto cpu = cpu_number(words.next());
    if (!cpu || cpus.count(*cpu) == 0) return;
    any = true;
    for (int column = 0; column < kColumns; ++column) {
      const auto ticks = words.number();
      if (!ticks) break;
      if (column != kIdle && column != kWaits) sum += *ticks;
    }
  });
  if (!any) return std::nullopt;
  return sum;
}

std::optional<Bytes> used_memory(std::string_view meminfo) {
  const auto total = value_of(meminfo, "MemTotal:"), free = value_of(meminfo, "MemAvailable:");
  if (!total || !free) return std::nullopt;
  return kibibytes(*total - std::min(*total, *free));
}

// Reads "  eth0: 1234 5 0 0 0 0 0 0 678 …": the first number is the received bytes, the ninth the
// sent bytes. The blank after the colon may be missing.
Traffic traffic(std::string_view net_dev) {
  constexpr int kSentColumn = 8;
  Traffic sum;
  each_line(net_dev, [&](std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) return;
    if (Words(line.substr(0, colon)).next() == "lo") return;
    Words words(line.substr(colon + 1));
    const auto received = words.number();
    for (int column = 1; column < kSentColumn; ++column) words.next();
    const auto sent = words.number();
    if (!received || !sent) return;
    sum.received += *received;
    sum.sent += *sent;
  });
  return sum;
}

std::optional<std::uint64_t> cgroup_cpu_us(std::string_view cpu_stat) {
  return value_of(cpu_stat, "usage_usec");
}

Bytes inactive_file(std::string_view memory_stat) {
  const auto with_children = value_of(memory_stat, "total_inactive_file");
  return Bytes{with_children ? *with_children : value_of(memory_stat, "inactive_file").value_or(0)};
}

}  // namespace lockstep::agent
