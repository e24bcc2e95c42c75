#include "agent/core/parts.h"

#include <algorithm>
#include <iterator>

namespace lockstep::agent {

namespace {

constexpr std::size_t kMaxSentBeats = 256;

}  // namespace

std::uint64_t SentBeats::sent(Instant now) {
  sent_[++newest_] = now;
  if (sent_.size() > kMaxSentBeats) sent_.erase(sent_.begin());
  return newest_;
}

std::optional<Instant> SentBeats::acknowledged(std::uint64_t number) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return std::nullopt;
  const Instant at = found->second;
  sent_.erase(sent_.begin(), std::next(found));
  return at;
}

void Unacknowledged::changed(const AttemptId& attempt) { entries_[attempt] = Entry{false, 0}; }

void Unacknowledged::removed(const AttemptId& attempt) { entries_[attempt] = Entry{true, 0}; }

void Unacknowledged::acknowledged(std::uint64_t sequence) {
  std::erase_if(entries_, [sequence](const auto& item) {
    const Entry& entry = item.second;
    return entry.told_in != 0 && entry.told_in <= sequence;
  });
}

Observed Unacknowledged::next(const std::map<AttemptId, Part>& parts) {
  const bool news = std::any_of(entries_.begin(), entries_.end(),
                                [](const auto& item) { return item.second.told_in == 0; });
  if (news) ++sequence_;
  Observed observed;
  observed.sequence = sequence_;
  for (auto& [attempt, entry] : entries_) {
    entry.told_in = sequence_;
    const auto part = parts.find(attempt);
    if (entry.gone || part == parts.end()) {
      observed.removed.push_back(attempt);
    } else {
      observed.parts.push_back(part->second.report);
    }
  }
  return observed;
}

NodeExitReport unreported_exit(Cause cause, Why why, Instant now, std::vector<LogSize> logs,
                               Bytes log_times) {
  NodeExitReport exit;
  exit.cause = cause;
  exit.why = std::move(why);
  exit.ended = now;
  exit.logs = std::move(logs);
  exit.log_times = log_times;
  return exit;
}

void hear_of_space(Part& part, bool no_space, Instant now) {
  switch (part.space) {
    case Part::Space::enough:
      if (!no_space) return;
      part.space = Part::Space::lacking;
      part.no_space_since = now;
      return;
    case Part::Space::lacking:
      if (!no_space) part.space = Part::Space::enough;
      return;
    case Part::Space::settled: return;
  }
}

void must_tell(Part& part) {
  part.told = Part::Told::nothing;
  part.look_again = Instant::never();
}

void have_told(Part& part, Instant look_again) {
  part.told = Part::Told::sent;
  part.look_again = look_again;
}

void need_not_tell(Part& part) {
  part.told = Part::Told::all;
  part.look_again = Instant::never();
}

Instant settles_at(const Part& part, Duration timeout) {
  const bool waits = part.stage == Part::Stage::collecting && part.space == Part::Space::lacking &&
                     part.canceled_at;
  return waits ? std::max(part.no_space_since, *part.canceled_at) + timeout : Instant::never();
}

}  // namespace lockstep::agent
