#include "launcher/cli/follow/log_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "common/base/printable.h"
#include "common/base/redrawn.h"
#include "common/base/utf8.h"

namespace lockstep::cli {

namespace {

// Colours that are readable on dark and light backgrounds.
constexpr std::array<int, 6> kColors = {36, 32, 33, 35, 34, 31};

std::string colored(std::size_t number, const std::string& text) {
  return fmt::format("\x1b[{}m{}\x1b[0m", kColors[number % kColors.size()], text);
}

// Whether the bytes are not text: text has no such control characters. Such data is written
// unchanged.
bool is_binary(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value < 7 || (value > 13 && value < 32 && value != 27);
  });
}

// The position where the newest state of a line begins.
std::size_t newest_state(std::string_view line) { return line.size() - last_state(line).size(); }

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

// The number of pending bytes that can be shown before more arrive. A cut is between characters.
std::size_t LogMerge::showable(const LogKey& key, const Log& log) const {
  if (on_terminal(key)) return showable_log(log.pending);
  const std::size_t length = whole_characters(log.pending);
  // The '\r' may restart the line, or be the first half of "\r\n".
  const bool waits = length > 0 && log.pending[length - 1] == '\r' && thins(key, log);
  return waits ? length - 1 : length;
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
  if (log.pending.empty()) {
    log.since = now;
    log.begin = log.position - fresh.size();
  }
  log.pending += fresh;
  log.is_binary = log.is_binary || is_binary(fresh);
  take_times(log, chunk.times);
  const bool is_thinned = thins(chunk.key, log);
  if (is_thinned) thin(chunk.key, log, now);
  if (by_line(chunk.key)) {
    write_lines(chunk.key, log, now);
    return Outcome::taken;
  }
  if (!is_thinned || log.pending.size() >= kMaxHeldLineBytes) log.redrawn = false;
  if (!log.redrawn) pass_through(chunk.key, log, showable(chunk.key, log));
  return Outcome::taken;
}

void LogMerge::pass_through(const LogKey& key, Log& log, std::size_t length) {
  if (length == 0) return;
  if (std::exchange(log.redrawn, false) && log.unended) sink_(key.stream, "\n");
  log.unended = log.pending[length - 1] != '\n';
  sink_(key.stream, std::string_view(log.pending).substr(0, length));
  log.pending.erase(0, length);
  log.begin += length;
}

// ---- lines that are redrawn, off a terminal -----------------------------------------------------

bool LogMerge::thins(const LogKey& key, const Log& log) const {
  return options_.states_every > Duration::zero() && !options_.wanted && !log.is_binary &&
         !on_terminal(key);
}

bool LogMerge::still_exact(const LogKey& key, Log& log) const {
  if (by_line(key) || key.stream != LogStream::out || log.exact_states >= kExactStates)
    return false;
  ++log.exact_states;
  return true;
}

// Removes states that later ones replaced from the pending bytes, and writes the lines before them.
void LogMerge::thin(const LogKey& key, Log& log, Instant now) {
  if (log.pending.find('\r') != std::string::npos) drop_replaced_states(key, log, now);
  const auto end = log.pending.rfind('\n') + 1;  // 0: the line has not ended yet
  if (end == 0) return;
  log.second.reset();
  if (log.pending.find('\r', end) == std::string::npos) log.exact_states = 0;
  if (log.redrawn && !by_line(key)) pass_through(key, log, end);
}

void LogMerge::drop_replaced_states(const LogKey& key, Log& log, Instant now) {
  const std::string bytes = std::exchange(log.pending, {});
  const std::uint64_t first = log.begin;
  // Bytes that are not written or dropped; the state of the last line.
  std::size_t left = 0, state = 0;
  for (std::size_t at = bytes.find_first_of("\r\n"); at != std::string::npos;
       at = bytes.find_first_of("\r\n", at + 1)) {
    if (bytes[at] == '\n') {
      log.second.reset();
      log.exact_states = 0;
      state = at + 1;
      continue;
    }
    // at the end it may be the first half of "\r\n"
    if (at + 1 == bytes.size() || bytes[at + 1] == '\n') continue;
    if (still_exact(key, log)) {
      state = at + 1;
      continue;
    }
    write_piece(key, log, bytes.substr(left, state - left), first + left);
    replace_state(key, log, bytes.substr(state, at - state), first + state, now);
    left = state = at + 1;
  }
  log.pending = bytes.substr(left);
  log.begin = first + left;
}

void LogMerge::replace_state(const LogKey& key, Log& log, std::string state, std::uint64_t begin,
                             Instant now) {
  const Instant began = time_of(log, begin).value_or(now);
  const Instant next = time_of(log, begin + state.size() + 1).value_or(now);
  if (!log.second) log.second = began;
  if (next < *log.second + options_.states_every || began < options_.states_since) {
    if (began < options_.states_since) log.second = next;
    log.redrawn = true;
    return;
  }
  log.second = next;
  log.since = now;
  if (!state.empty()) write_piece(key, log, std::move(state) + '\n', begin);
  log.redrawn = true;
}

void LogMerge::write_piece(const LogKey& key, Log& log, std::string piece, std::uint64_t begin) {
  if (piece.empty()) return;
  log.pending = std::move(piece);
  log.begin = begin;
  if (by_line(key))
    write_pending(key, log, log.pending.size());
  else
    pass_through(key, log, log.pending.size());
}

// Keeps a line small that is redrawn for hours. If lines are selected, all of its states stay,
// since any may be selected.
void LogMerge::drop_old_states(Log& log) const {
  if (options_.wanted || log.pending.empty()) return;
  const std::size_t begin = newest_state(log.pending);
  log.redrawn = log.redrawn || begin > 0;
  log.pending.erase(0, begin);
  log.begin += begin;
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

// The newest selected state of a line, with the line's end; "": none is selected.
std::string LogMerge::shown_of(std::string_view line) const {
  const auto text_end = line.find_last_not_of("\r\n") + 1;  // 0: only the line's end is left
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
  if (!options_.timestamps && options_.states_every == Duration::zero()) return;
  while (log.times.size() > 1 && log.times[1].offset <= log.begin) log.times.pop_front();
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

std::optional<Instant> LogMerge::time_of(const Log& log, std::uint64_t offset) {
  const auto after =
      std::upper_bound(log.times.begin(), log.times.end(), offset,
                       [](std::uint64_t at, const LogTime& time) { return at < time.offset; });
  if (after == log.times.begin()) return std::nullopt;
  return std::prev(after)->at;
}

// The text before a line, or before the rest of an interrupted one.
std::string LogMerge::head_of(Log& log, std::uint64_t offset) {
  std::string head = std::exchange(log.interrupted, false) ? log.continued : log.prefix;
  if (!options_.timestamps) return head;
  const auto known = time_of(log, offset);
  return head + (known ? to_string(*known) : "-") + " ";
}

// Writes the first `length` pending bytes: whole lines, or the beginning or the rest of one. Calls
// the sink once, so that a line is one write.
void LogMerge::write_pending(const LogKey& key, Log& log, std::size_t length) {
  std::string_view piece = std::string_view(log.pending).substr(0, length);
  std::uint64_t offset = log.begin;
  bool at_line_start = open_line_ != key;
  std::string out;
  while (!piece.empty()) {
    const auto newline = piece.find('\n');
    const auto size = newline == std::string_view::npos ? piece.size() : newline + 1;
    std::string shown = shown_of(piece.substr(0, size));
    if (!shown.empty()) {
      // A state that replaces one that was shown goes on a line of its own.
      if (log.redrawn || shown.size() != size) at_line_start = true;
      // The rest of an open line may be one that was not selected.
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
  log.begin += length;
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
  if (options_.wanted) return;  // selection needs the whole line
  for (auto& [key, log] : logs_) {
    if (deadline_of(key, log) > now) continue;
    if (thins(key, log)) log.second = time_of(log, log.begin).value_or(now);
    if (by_line(key))
      write_pending(key, log, showable(key, log));
    else
      pass_through(key, log, showable(key, log));
    log.since = now;  // the time of the first byte of an incomplete character, if that is left
  }
}

Instant LogMerge::deadline_of(const LogKey& key, const Log& log) const {
  if (log.pending.empty() || showable(key, log) == 0) return Instant::never();
  if (thins(key, log) && waits_for_its_end(log)) return log.since + options_.states_every;
  if (!by_line(key) || waits_for_its_end(log)) return Instant::never();
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
