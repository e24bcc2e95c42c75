#include "launcher/cli/follow/log_order.h"

#include <algorithm>
#include <iterator>

namespace lockstep::cli {

namespace {

// The time of the byte at `offset`, from entries sorted by offset; Instant{}: unknown.
template <typename Times>
Instant time_of(const Times& times, std::uint64_t offset) {
  const auto after =
      std::upper_bound(times.begin(), times.end(), offset,
                       [](std::uint64_t at, const LogTime& time) { return at < time.offset; });
  return after == times.begin() ? Instant{} : std::prev(after)->at;
}

// The end of the line, or of its state, that holds the byte before `begin`; data.size(): it has not
// ended.
std::size_t end_of_line(std::string_view data, std::size_t begin) {
  const auto end = data.find_first_of("\r\n", begin == 0 ? 0 : begin - 1);
  if (end == std::string_view::npos) return data.size();
  const bool is_pair = data[end] == '\r' && end + 1 < data.size() && data[end + 1] == '\n';
  return end + (is_pair ? 2 : 1);
}

bool is_of_another_group(const LogKey& a, const LogKey& b) {
  return a.attempt.job == b.attempt.job &&
         (a.attempt != b.attempt ||
          (a.stream == LogStream::environment) != (b.stream == LogStream::environment));
}

}  // namespace

LogOrder::Outcome LogOrder::place(const LogChunk& chunk, Log** log) {
  const auto [it, is_new] = logs_.try_emplace(chunk.key);
  if (is_new) it->second.position = from_start_ ? 0 : chunk.offset;
  *log = &it->second;
  if (chunk.offset > it->second.position) return Outcome::gap;
  const std::uint64_t known = it->second.position - chunk.offset;
  return known > 0 && known >= chunk.data.size() ? Outcome::seen_before : Outcome::taken;
}

LogOrder::Outcome LogOrder::add(LogChunk chunk) {
  Log* log = nullptr;
  const Outcome outcome = place(chunk, &log);
  if (outcome != Outcome::taken) return outcome;
  chunk.data.erase(0, log->position - chunk.offset);
  chunk.offset = log->position;
  // Logs of environments come before the logs of their ranks, and each attempt after the previous
  // one.
  if (expected_.empty() && !order_.empty() &&
      is_of_another_group(order_.begin()->second, chunk.key))
    release_all();
  const bool is_alone = expected_.empty() && !chunk.more;
  if (is_alone && order_.empty()) {
    log->position += chunk.data.size();
    sink_(std::move(chunk));
    return outcome;
  }
  const JobId job = chunk.key.attempt.job;
  const Instant begin = time_of(chunk.times, chunk.offset);
  hold(*log, std::move(chunk));
  if (const auto known = expected_.find(job); known != expected_.end())
    known->second = std::max(known->second, begin);
  if (is_alone)
    release_all();
  else
    release(expected_.empty() ? begin : oldest_expected());
  while (held_ > kMaxHeldLogBytes) release(order_.begin()->first);
  return outcome;
}

void LogOrder::hold(Log& log, LogChunk chunk) {
  const LogKey key = chunk.key;
  log.data.erase(0, std::exchange(log.passed, 0));
  const bool is_empty = log.data.empty();
  for (const LogTime& time : chunk.times)
    if (log.times.empty() || time.offset > log.times.back().offset) log.times.push_back(time);
  log.position += chunk.data.size();
  log.data += chunk.data;
  held_ += chunk.data.size();
  if (is_empty) {
    log.at = std::max(log.at, time_of(log.times, chunk.offset));
    order_.insert({log.at, key});
  }
  chunk.data.clear();
  chunk.times.clear();
  log.head = std::move(chunk);
}

// The number of held bytes that began no later than `until`: whole lines, at least one.
std::size_t LogOrder::end_of_run(const Log& log, Instant until) const {
  const auto later = std::find_if(log.times.begin(), log.times.end(), [&](const LogTime& time) {
    return time.at > until && time.offset > log.next_offset();
  });
  if (later == log.times.end()) return log.data.size();
  const std::uint64_t length = later->offset - log.next_offset();
  if (length >= log.data.size() - log.passed) return log.data.size();
  return end_of_line(log.data, log.passed + static_cast<std::size_t>(length));
}

void LogOrder::pass_on(const LogKey& key, Instant until) {
  Log& log = logs_.at(key);
  order_.erase({log.at, key});
  const std::size_t end = end_of_run(log, until);
  LogChunk piece = log.head;
  piece.offset = log.next_offset();
  piece.data = log.data.substr(log.passed, end - log.passed);
  for (const LogTime& time : log.times)
    if (time.offset < piece.offset + piece.data.size()) piece.times.push_back(time);
  held_ -= piece.data.size();
  log.passed = end;
  while (log.times.size() > 1 && log.times[1].offset <= log.next_offset()) log.times.pop_front();
  if (log.passed < log.data.size()) {
    log.at = std::max(log.at, time_of(log.times, log.next_offset()));
    order_.insert({log.at, key});
  } else {
    log.data.clear();
    log.passed = 0;
  }
  sink_(std::move(piece));
}

// Releases lines that began at `until` or before. A run of one log ends where another log has an
// older line.
void LogOrder::release(Instant until) {
  while (!order_.empty() && order_.begin()->first <= until) {
    const LogKey key = order_.begin()->second;
    const auto next = std::next(order_.begin());
    pass_on(key, next == order_.end() ? until : std::min(until, next->first));
  }
}

void LogOrder::release_all() { release(Instant::never()); }

void LogOrder::expect(const JobId& job, Instant from) { expected_.try_emplace(job, from); }

Instant LogOrder::reached(const JobId& job) const {
  const auto known = expected_.find(job);
  return known == expected_.end() ? Instant::never() : known->second;
}

void LogOrder::done(const JobId& job) {
  expected_.erase(job);
  release(oldest_expected());
}

bool LogOrder::holds(const JobId& job) const {
  return std::any_of(order_.begin(), order_.end(),
                     [&](const Turn& turn) { return turn.second.attempt.job == job; });
}

Instant LogOrder::oldest_expected() const {
  Instant oldest = Instant::never();
  for (const auto& [job, from] : expected_) oldest = std::min(oldest, from);
  return oldest;
}

std::vector<LogFollow::Position> LogOrder::positions(const JobId& job) const {
  std::vector<LogFollow::Position> positions;
  for (auto it = logs_.lower_bound({{job, 0}, 0, LogStream::out});
       it != logs_.end() && it->first.attempt.job == job; ++it)
    positions.push_back({it->first, it->second.position});
  return positions;
}

std::vector<LogFollow::Position> LogOrder::positions() const {
  std::vector<LogFollow::Position> positions;
  for (const auto& [key, log] : logs_) positions.push_back({key, log.position});
  return positions;
}

}  // namespace lockstep::cli
