#include "launcher/cli/log_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::cli {

namespace {

// Colours that are readable on dark and on light ground.
constexpr std::array<int, 6> kColors = {36, 32, 33, 35, 34, 31};

std::string colored(std::size_t number, const std::string& text) {
  return fmt::format("\x1b[{}m{}\x1b[0m", kColors[number % kColors.size()], text);
}

// Where the newest state of a line begins: behind its last carriage return that something follows,
// but for those of its end ("\r\n").
std::size_t newest_state(std::string_view line) {
  const auto last = line.find_last_not_of("\r\n");
  if (last == std::string_view::npos) return 0;
  const auto begin = line.rfind('\r', last);
  return begin == std::string_view::npos ? 0 : begin + 1;
}

}  // namespace

LogMerge::LogMerge(MergeOptions options, Sink sink)
    : options_(std::move(options)), sink_(std::move(sink)) {}

bool LogMerge::by_line(const LogKey& key) const {
  return options_.prefix || options_.by_line || options_.timestamps || options_.wanted ||
         on_terminal(key);
}

bool LogMerge::on_terminal(const LogKey& key) const {
  return options_.on_terminal && options_.on_terminal(key.stream);
}

// How many of the pending bytes can be shown before more comes: what is cut is cut between
// characters.
std::size_t LogMerge::showable(const LogKey& key, const Log& log) const {
  return on_terminal(key) ? showable_log(log.pending) : whole_characters(log.pending);
}

std::size_t LogMerge::longest_held() const {
  return options_.wanted ? kMaxJudgedLineBytes : kMaxHeldLineBytes;
}

std::string LogMerge::prefix_of(const LogChunk& chunk, char separator) const {
  if (options_.name_of) {
    const MergeOptions::Name name = options_.name_of(chunk);
    const std::string text = fmt::format("{} {} ", in_one_line(name.text), separator);
    return options_.color ? colored(name.color, text) : text;
  }
  const std::string node = in_one_line(chunk.node_name);
  if (chunk.key.stream == LogStream::environment)
    return fmt::format("[environment {}]{}", node, separator == '|' ? " " : "+ ");
  const std::string text = fmt::format("{}:{} {} ", node, chunk.key.rank, separator);
  return options_.color ? colored(static_cast<std::size_t>(chunk.key.rank), text) : text;
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
  if (log.pending.empty()) log.since = now;
  log.pending += fresh;
  if (!by_line(chunk.key)) {
    pass_through(chunk.key, log, showable(chunk.key, log));
    return Outcome::taken;
  }
  if (options_.timestamps) take_times(log, chunk.times);
  write_lines(chunk.key, log, now);
  return Outcome::taken;
}

void LogMerge::pass_through(const LogKey& key, Log& log, std::size_t length) {
  if (length == 0) return;
  sink_(key.stream, std::string_view(log.pending).substr(0, length));
  log.pending.erase(0, length);
}

// So that a line that is redrawn for hours stays small. Where lines are chosen, any of its states
// may be wanted.
void LogMerge::drop_old_states(Log& log) const {
  if (options_.wanted || log.pending.empty()) return;
  const std::size_t begin = newest_state(log.pending);
  log.redrawn = log.redrawn || begin > 0;
  log.pending.erase(0, begin);
}

bool LogMerge::waits_for_its_end(const Log& log) const {
  return log.redrawn || log.pending.find('\r') != std::string::npos;
}

std::vector<std::string> LogMerge::live() const {
  std::vector<std::string> lines;
  for (const auto& [key, log] : logs_) {
    if (log.pending.empty() || options_.wanted || !waits_for_its_end(log)) continue;
    const std::string_view state = std::string_view(log.pending).substr(0, log.pending.find('\r'));
    std::string colors = log.colors, shown = printable_log(state, &colors);
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    lines.push_back(log.prefix + shown);
  }
  return lines;
}

// Of a line its newest state that is wanted, with the line's end; "": none is.
std::string LogMerge::shown_of(std::string_view line) const {
  const auto text_end = line.find_last_not_of("\r\n") + 1;  // 0: nothing but its end
  const std::string_view end = line.substr(text_end);
  for (std::string_view text = line.substr(0, text_end);;) {
    const std::size_t begin = newest_state(text);
    std::string state = std::string(text.substr(begin)).append(end);
    if (!options_.wanted || options_.wanted(state)) return state;
    text = text.substr(0, begin);
    text = text.substr(0, text.find_last_not_of('\r') + 1);
    if (text.empty()) return {};
  }
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
  drop_old_states(log);
  if (log.pending.size() >= longest_held()) write_pending(key, log, showable(key, log));
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
    std::string shown = shown_of(piece.substr(0, size));
    if (!shown.empty()) {
      // What replaces a state that was shown already stands on a line of its own.
      if (log.redrawn || shown.size() != size) at_line_start = true;
      // The rest of an open line may be one that was not chosen.
      const bool unended = out.empty() ? open_line_ == key : out.back() != '\n';
      if (at_line_start && unended) out += '\n';
      if (at_line_start) out += head_of(log, offset);
      out += on_terminal(key) ? printable_log(shown, &log.colors) : shown;
    }
    log.redrawn = false;
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
    if (deadline_of(key, log) > now) continue;
    write_pending(key, log, showable(key, log));
    log.since = now;  // of the beginning of a character, if that is left
  }
}

Instant LogMerge::deadline_of(const LogKey& key, const Log& log) const {
  if (log.pending.empty() || !by_line(key) || waits_for_its_end(log)) return Instant::never();
  if (showable(key, log) == 0) return Instant::never();
  return log.since + options_.show_partial_after;
}

Instant LogMerge::next_deadline() const {
  Instant next = Instant::never();
  if (options_.wanted) return next;
  for (const auto& [key, log] : logs_) next = std::min(next, deadline_of(key, log));
  return next;
}

void LogMerge::write_rest(const LogKey& key, Log& log) {
  if (log.pending.empty()) return;
  if (!by_line(key)) return pass_through(key, log, log.pending.size());
  write_pending(key, log, log.pending.size());
}

void LogMerge::finish() {
  for (auto& [key, log] : logs_) write_rest(key, log);
  if (open_line_) sink_(open_line_->stream, "\n");
  open_line_.reset();
}

void LogMerge::finish(const JobId& job) {
  for (auto it = logs_.lower_bound({{job, 0}, 0, LogStream::out});
       it != logs_.end() && it->first.attempt.job == job; it = logs_.erase(it)) {
    write_rest(it->first, it->second);
    if (open_line_ != it->first) continue;
    sink_(open_line_->stream, "\n");
    open_line_.reset();
  }
}

std::vector<LogFollow::Position> LogMerge::positions(const JobId& job) const {
  std::vector<LogFollow::Position> positions;
  for (auto it = logs_.lower_bound({{job, 0}, 0, LogStream::out});
       it != logs_.end() && it->first.attempt.job == job; ++it)
    positions.push_back({it->first, it->second.position});
  return positions;
}

std::vector<LogFollow::Position> LogMerge::positions() const {
  std::vector<LogFollow::Position> positions;
  for (const auto& [key, log] : logs_) positions.push_back({key, log.position});
  return positions;
}

}  // namespace lockstep::cli
