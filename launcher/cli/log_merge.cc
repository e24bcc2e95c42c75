#include "launcher/cli/log_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::cli {

namespace {

// Colours that are readable on dark and on light ground.
constexpr std::array<int, 6> kColors = {36, 32, 33, 35, 34, 31};

}  // namespace

LogMerge::LogMerge(MergeOptions options, Sink sink)
    : options_(std::move(options)), sink_(std::move(sink)) {}

bool LogMerge::lines() const {
  return options_.prefix || options_.by_line || options_.timestamps || options_.wanted;
}

std::size_t LogMerge::longest_held() const {
  return options_.wanted ? kMaxJudgedLineBytes : kMaxHeldLineBytes;
}

std::string LogMerge::prefix_of(const LogChunk& chunk, char separator) const {
  if (chunk.key.stream == LogStream::environment)
    return fmt::format("[environment {}]{}", chunk.node_name, separator == '|' ? " " : "+ ");
  const std::string text = fmt::format("{}:{} {} ", chunk.node_name, chunk.key.rank, separator);
  if (!options_.color) return text;
  const auto index = static_cast<std::size_t>(chunk.key.rank) % kColors.size();
  return fmt::format("\x1b[{}m{}\x1b[0m", kColors[index], text);
}

LogMerge::Outcome LogMerge::add(const LogChunk& chunk, Instant now) {
  auto [it, is_new] = logs_.try_emplace(chunk.key);
  Log& log = it->second;
  if (is_new) {
    log.position = options_.from_start ? 0 : chunk.offset;
    if (options_.prefix) log.prefix = prefix_of(chunk, '|');
    if (options_.prefix) log.continued = prefix_of(chunk, '+');
  }
  if (chunk.offset > log.position) return Outcome::gap;
  const std::uint64_t known = log.position - chunk.offset;
  if (known > 0 && known >= chunk.data.size()) return Outcome::seen_before;
  const std::string_view fresh = std::string_view(chunk.data).substr(known);
  log.position += fresh.size();
  if (!lines()) {
    if (!fresh.empty()) sink_(chunk.key.stream, fresh);
    return Outcome::taken;
  }
  if (log.pending.empty()) log.since = now;
  log.pending += fresh;
  if (options_.timestamps) take_times(log, chunk.times);
  write_lines(chunk.key, log, now);
  return Outcome::taken;
}

void LogMerge::take_times(Log& log, const std::vector<LogTime>& times) const {
  for (const LogTime& time : times)
    if (log.times.empty() || time.offset > log.times.back().offset) log.times.push_back(time);
}

void LogMerge::write_lines(const LogKey& key, Log& log, Instant now) {
  const auto last = log.pending.rfind('\n');
  if (last != std::string::npos) {
    write_pending(key, log, last + 1);
    log.since = now;
  }
  if (log.pending.size() >= longest_held()) write_pending(key, log, log.pending.size());
}

// What stands before a line, or before the rest of an interrupted one.
std::string LogMerge::head_of(Log& log, std::uint64_t offset) {
  std::string head = std::exchange(log.interrupted, false) ? log.continued : log.prefix;
  if (!options_.timestamps) return head;
  while (log.times.size() > 1 && log.times[1].offset <= offset) log.times.pop_front();
  const bool known = !log.times.empty() && log.times.front().offset <= offset;
  return head + (known ? to_string(log.times.front().at) : "-") + " ";
}

// The first `length` bytes of what is pending: whole lines, or the beginning or the rest of one.
// One call of the sink, so that a line is one write.
void LogMerge::write_pending(const LogKey& key, Log& log, std::size_t length) {
  std::string_view piece = std::string_view(log.pending).substr(0, length);
  std::uint64_t offset = log.pending_offset();
  bool at_line_start = open_line_ != key;
  std::string out;
  while (!piece.empty()) {
    const auto newline = piece.find('\n');
    const auto size = newline == std::string_view::npos ? piece.size() : newline + 1;
    if (!options_.wanted || options_.wanted(piece.substr(0, size))) {
      // Only where lines are chosen: the rest of an open one was not.
      const bool unended = out.empty() ? open_line_ == key : out.back() != '\n';
      if (at_line_start && unended) out += '\n';
      if (at_line_start) out += head_of(log, offset);
      out += piece.substr(0, size);
    }
    piece.remove_prefix(size);
    offset += size;
    at_line_start = true;
  }
  log.pending.erase(0, length);
  if (out.empty()) return;
  if (open_line_ && open_line_ != key) {
    sink_(open_line_->stream, "\n");
    logs_.at(*open_line_).interrupted = true;
  }
  sink_(key.stream, out);
  open_line_.reset();
  if (out.back() != '\n') open_line_ = key;
}

void LogMerge::show_partial(Instant now) {
  if (options_.wanted) return;  // a line is judged as a whole
  for (auto& [key, log] : logs_) {
    if (log.pending.empty() || log.since + options_.show_partial_after > now) continue;
    write_pending(key, log, log.pending.size());
  }
}

Instant LogMerge::next_deadline() const {
  Instant next = Instant::never();
  if (options_.wanted) return next;
  for (const auto& [key, log] : logs_)
    if (!log.pending.empty()) next = std::min(next, log.since + options_.show_partial_after);
  return next;
}

void LogMerge::finish() {
  for (auto& [key, log] : logs_)
    if (!log.pending.empty()) write_pending(key, log, log.pending.size());
  if (open_line_ && lines()) sink_(open_line_->stream, "\n");
  open_line_.reset();
}

std::vector<LogFollow::Position> LogMerge::positions() const {
  std::vector<LogFollow::Position> positions;
  for (const auto& [key, log] : logs_) positions.push_back({key, log.position});
  return positions;
}

}  // namespace lockstep::cli
