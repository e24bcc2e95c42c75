#include "runner/usage/process_use.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace lockstep::runner {
namespace {

// Calls `take` with each line.
template <typename Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view next_word(std::string_view& text) {
  const std::size_t from = std::min(text.find_first_not_of(" \t\n"), text.size());
  text.remove_prefix(from);
  const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

template <typename Number>
bool read(std::string_view word, Number* out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *out);
  return error == std::errc() && end == word.data() + word.size();
}

// The number after `key` and blanks, if the line begins with the key.
std::optional<std::uint64_t> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  std::uint64_t value = 0;
  if (line.empty() || line[0] != ' ' || !read(next_word(line), &value)) return std::nullopt;
  return value;
}

}  // namespace

// The name is in parentheses and may hold any character. Numbers of fields are as in proc(5).
std::optional<ProcessUse> parse_stat(std::string_view text) {
  constexpr int kParent = 4, kUserTime = 14, kChildrenSystemTime = 17, kResident = 24;
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  ProcessUse use;
  std::string_view head = text.substr(0, open);
  if (!read(next_word(head), &use.pid)) return std::nullopt;
  std::string_view rest = text.substr(close + 1);
  next_word(rest);  // skips the state
  for (int field = kParent; field <= kResident; ++field) {
    const std::string_view word = next_word(rest);
    std::int64_t value = 0;
    const bool is_used = field == kParent || field == kResident ||
                         (field >= kUserTime && field <= kChildrenSystemTime);
    if (!is_used) continue;
    if (!read(word, &value) || value < 0) return std::nullopt;
    if (field == kParent)
      use.parent = static_cast<int>(value);
    else if (field == kResident)
      use.resident_pages = static_cast<std::uint64_t>(value);
    else
      use.cpu_ticks += static_cast<std::uint64_t>(value);
  }
  return use;
}

std::optional<ProcessIo> parse_io(std::string_view text) {
  ProcessIo io;
  int found = 0;
  each_line(text, [&](std::string_view line) {
    if (const auto read = value_of(line, "read_bytes:")) io.read = *read, ++found;
    if (const auto written = value_of(line, "write_bytes:")) io.written = *written, ++found;
  });
  if (found != 2) return std::nullopt;
  return io;
}

std::optional<int> parse_own_pid(std::string_view status) {
  std::optional<int> own;
  each_line(status, [&](std::string_view line) {
    constexpr std::string_view kKey = "NSpid:";
    if (!line.starts_with(kKey)) return;
    line.remove_prefix(kKey.size());
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
      if (int pid = 0; read(word, &pid)) own = pid;
  });
  return own;
}

// Reads resident memory. v1 has separate names for counts that include the cgroups below; v2 always
// includes them.
std::optional<Bytes> parse_resident(std::string_view memory_stat) {
  std::optional<std::uint64_t> anonymous, mapped;
  each_line(memory_stat, [&](std::string_view line) {
    for (const char* key : {"total_rss", "anon"})
      if (const auto value = value_of(line, key)) anonymous = value;
    for (const char* key : {"total_mapped_file", "file_mapped"})
      if (const auto value = value_of(line, key)) mapped = value;
  });
  if (!anonymous) return std::nullopt;
  return Bytes{*anonymous + mapped.value_or(0)};
}

std::vector<int> tree_of(const std::vector<ProcessUse>& all, int root) {
  std::multimap<int, int> children;
  for (const ProcessUse& process : all) children.emplace(process.parent, process.pid);
  std::vector<int> found, parents{root};
  while (!parents.empty()) {
    const auto [from, to] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = from; child != to; ++child) {
      if (child->second == child->first) continue;
      found.push_back(child->second);
      parents.push_back(child->second);
    }
  }
  return found;
}

}  // namespace lockstep::runner
