#include "runner/watch/compare/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace lockstep::runner {
namespace {

// A minute in which the machine or the runner was stopped is not counted.
constexpr Duration kLongestWindow = 3 * kWatchEvery;
constexpr int kLeastSamples = 9;               // the least samples in a minute
constexpr std::int64_t kLeastLines = 6;        // lines in a minute, of the median rank
constexpr std::int64_t kLeastLinesOfRank = 2;  // lines in a minute, of each rank that is compared
// A rank with fewer lines than the median by more than this factor prints other things.
constexpr std::int64_t kMostTimesFewer = 10;
constexpr std::int64_t kLeastBusyMore = 400;  // milli of the time, above the median
constexpr std::int64_t kLeastWaiting = 200;   // milli of the time, of the median rank
constexpr std::int64_t kLeastCpuMore = 250;   // milli of a core, above the median
constexpr std::int64_t kLeastCpuOther = 100;  // milli of a core, above or below the median
// in thousandths of the time for which one reason holds a rank up
constexpr std::int64_t kLeastHeld = 100;
constexpr std::int64_t kLeastFaults = 100;      // the least faults in a minute
constexpr std::int64_t kLeastRetransmits = 20;  // the least retransmissions in a minute
constexpr int kMinutesUnexplained = 2;

std::int64_t busy_of(const RankPace& pace) {
  return pace.samples == 0 ? 0 : 1000 * (pace.samples - pace.waiting) / pace.samples;
}

// Whether a value is more than 1.5 times the median.
bool is_beyond(std::int64_t value, std::int64_t median) { return 2 * value > 3 * median; }

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Whether a rank is compared: one that serves others, sleeps or is stopped is not.
bool is_compared(const RankNow& one) {
  if (one.standing == nullptr || one.is_lost) return false;
  if (one.role == Role::ended || one.role == Role::stopped) return false;
  const bool may_idle =
      one.standing->doing == Doing::serves || one.standing->doing == Doing::sleeps;
  return !may_idle || one.role == Role::moves;
}

}  // namespace

// ---- of one node --------------------------------------------------------------------------------

void PaceMeter::add(Minute& minute, const RankStanding& standing) {
  ++minute.samples;
  if (standing.doing == Doing::waits_peer || standing.pauses) ++minute.waiting;
  if (standing.since != minute.last.since) ++minute.moving;
  minute.cpu_milli += standing.cpu_milli;
  minute.hindrances.throttled_milli += standing.hindrances.throttled_milli;
  minute.hindrances.queued_milli += standing.hindrances.queued_milli;
  minute.hindrances.disk_wait_milli += standing.hindrances.disk_wait_milli;
  minute.hindrances.major_faults += standing.hindrances.major_faults;
  minute.last = standing;
}

void PaceMeter::add(const RankStandings& standings) {
  for (const RankStanding& standing : standings) {
    const bool is_over = standing.doing == Doing::exited;
    if (is_over || standing.window > kLongestWindow) minutes_.erase(standing.rank);
    if (is_over) continue;
    const auto [place, is_new] = minutes_.try_emplace(standing.rank);
    if (is_new)
      place->second.first = place->second.last = standing;
    else
      add(place->second, standing);
  }
}

RankPace PaceMeter::pace_of(const Minute& minute) {
  RankPace pace;
  pace.rank = minute.last.rank;
  pace.node_rank = minute.last.node_rank;
  pace.over = minute.last.taken - minute.first.taken;
  pace.samples = minute.samples;
  pace.waiting = minute.waiting;
  pace.moving = minute.moving;
  pace.cpu_milli = minute.cpu_milli / minute.samples;
  pace.log_lines = std::max<std::int64_t>(0, minute.last.log_lines - minute.first.log_lines);
  pace.retransmits = std::max<std::int64_t>(0, minute.last.retransmits - minute.first.retransmits);
  pace.hindrances = minute.last.hindrances;
  pace.hindrances.throttled_milli = minute.hindrances.throttled_milli / minute.samples;
  pace.hindrances.queued_milli = minute.hindrances.queued_milli / minute.samples;
  pace.hindrances.disk_wait_milli = minute.hindrances.disk_wait_milli / minute.samples;
  pace.hindrances.major_faults = minute.hindrances.major_faults;
  return pace;
}

std::vector<RankPace> PaceMeter::take() {
  std::vector<RankPace> paces;
  for (auto& [rank, minute] : minutes_) {
    if (minute.samples == 0 || minute.last.taken - minute.first.taken < kPaceOver) continue;
    paces.push_back(pace_of(minute));
    Minute next;
    next.first = next.last = std::move(minute.last);
    minute = std::move(next);
  }
  return paces;
}

// ---- of the gang --------------------------------------------------------------------------------

void PaceComparison::take(Instant now, const RankPace& pace) {
  if (pace.rank < 0 || static_cast<std::size_t>(pace.rank) >= latest_.size()) return;
  Latest& latest = latest_[static_cast<std::size_t>(pace.rank)];
  latest.pace = pace;
  latest.at = now;
  is_new_ = true;
}

PaceComparison::Medians PaceComparison::medians(const std::vector<int>& ranks) const {
  std::vector<std::int64_t> busy, cpu, lines, retransmits, throttled, queued, disk, faults, mhz;
  Medians all;
  all.all_gpu_held = !ranks.empty();
  for (const int rank : ranks) {
    const RankPace& pace = *latest_[static_cast<std::size_t>(rank)].pace;
    busy.push_back(busy_of(pace));
    cpu.push_back(pace.cpu_milli);
    lines.push_back(-pace.log_lines);  // of two ranks, the faster one is the median
    retransmits.push_back(pace.retransmits);
    throttled.push_back(pace.hindrances.throttled_milli);
    queued.push_back(pace.hindrances.queued_milli);
    disk.push_back(pace.hindrances.disk_wait_milli);
    faults.push_back(pace.hindrances.major_faults);
    mhz.push_back(-pace.hindrances.cpu_mhz);
    all.all_gpu_held = all.all_gpu_held && !pace.hindrances.gpu_held.empty();
  }
  all.busy = median_of(std::move(busy));
  all.cpu = median_of(std::move(cpu));
  all.lines = -median_of(std::move(lines));
  all.retransmits = median_of(std::move(retransmits));
  all.hindrances.throttled_milli = median_of(std::move(throttled));
  all.hindrances.queued_milli = median_of(std::move(queued));
  all.hindrances.disk_wait_milli = median_of(std::move(disk));
  all.hindrances.major_faults = median_of(std::move(faults));
  all.hindrances.cpu_mhz = -median_of(std::move(mhz));
  return all;
}

std::string PaceComparison::reason_of(const RankPace& pace, const Medians& all) {
  const Hindrances &its = pace.hindrances, &others = all.hindrances;
  const auto is_held = [](std::int64_t value, std::int64_t median) {
    return value >= kLeastHeld && value >= 2 * median;
  };
  if (is_held(its.throttled_milli, others.throttled_milli))
    return fmt::format("cpu quota {} %", its.throttled_milli / 10);
  if (is_held(its.queued_milli, others.queued_milli))
    return fmt::format("other load {} %", its.queued_milli / 10);
  if (is_held(its.disk_wait_milli, others.disk_wait_milli))
    return fmt::format("disk wait {} %", its.disk_wait_milli / 10);
  if (!its.gpu_held.empty() && !all.all_gpu_held) return fmt::format("gpu clock: {}", its.gpu_held);
  if (pace.retransmits >= kLeastRetransmits && pace.retransmits >= 3 * all.retransmits)
    return fmt::format("retransmits {}", pace.retransmits);
  if (its.major_faults >= kLeastFaults && its.major_faults >= 3 * others.major_faults)
    return fmt::format("page faults {}", its.major_faults);
  if (its.cpu_mhz > 0 && its.cpu_mhz * 5 < others.cpu_mhz * 4)
    return fmt::format("cpu clock {} MHz", its.cpu_mhz);
  return "";
}

// Compares a rank. A slow rank writes fewer lines in the same time, or waits less than the others,
// which wait for it. Or its cpu time differs while something holds it up, or while the others wait.
std::optional<PaceComparison::Verdict> PaceComparison::compare(const RankPace& pace,
                                                               const Medians& all,
                                                               bool is_alone) const {
  const std::string reason = reason_of(pace, all);
  const std::int64_t busy = busy_of(pace);
  const std::int64_t waiting = 1000 - busy, others_waiting = 1000 - all.busy;
  // Ranks that wait for each other make the same number of steps. A rank that prints little is not
  // slow: often only rank 0 prints the progress.
  const bool may_lag = is_alone || !reason.empty() || 2 * waiting < others_waiting;
  const bool says_steps =
      pace.log_lines >= kLeastLinesOfRank && kMostTimesFewer * pace.log_lines >= all.lines;
  if (may_lag && says_steps && all.lines >= kLeastLines && is_beyond(all.lines, pace.log_lines))
    return Verdict{1000 * all.lines / pace.log_lines, 1000, reason};
  // With few samples a minute, a rank like the others may look busy by chance.
  const bool is_other = !reason.empty() || std::abs(pace.cpu_milli - all.cpu) >= kLeastCpuOther;
  if (is_other && is_beyond(busy, all.busy) && busy - all.busy >= kLeastBusyMore)
    return Verdict{busy, std::max<std::int64_t>(all.busy, 1), reason};
  const bool is_held_up = !reason.empty() && is_beyond(all.cpu, pace.cpu_milli) &&
                          all.cpu - pace.cpu_milli >= kLeastCpuMore;
  if (is_held_up) return Verdict{all.cpu, std::max<std::int64_t>(pace.cpu_milli, 1), reason};
  const bool works_more = is_beyond(pace.cpu_milli, all.cpu) &&
                          pace.cpu_milli - all.cpu >= kLeastCpuMore &&
                          others_waiting >= kLeastWaiting && 2 * waiting < others_waiting;
  if (works_more) return Verdict{pace.cpu_milli, std::max<std::int64_t>(all.cpu, 1), reason};
  return std::nullopt;
}

EvidenceList PaceComparison::slow(const GangNow& gang, Instant now) {
  if (!std::exchange(is_new_, false)) return found_;
  found_.clear();
  std::vector<int> ranks;
  for (std::size_t i = 0; i < gang.size() && i < latest_.size(); ++i) {
    const Latest& latest = latest_[i];
    // Ranks that do not move at all do not differ in speed.
    const bool is_fresh = latest.pace && latest.pace->samples >= kLeastSamples &&
                          latest.pace->moving > 0 && now - latest.at < 2 * Duration(kPaceOver);
    if (is_fresh && is_compared(gang[i]))
      ranks.push_back(static_cast<int>(i));
    else
      latest_[i].times = 0;
  }
  if (ranks.size() < 2) return found_;
  const Medians all = medians(ranks);
  for (const int rank : ranks) {
    Latest& latest = latest_[static_cast<std::size_t>(rank)];
    const RankStanding& standing = *gang[static_cast<std::size_t>(rank)].standing;
    const bool is_alone = !standing.has_met.value_or(false) && standing.peer_sockets == 0;
    const auto verdict = compare(*latest.pace, all, is_alone);
    if (!verdict) {
      latest.times = 0;
      continue;
    }
    if (latest.times == 0) latest.since = latest.at - latest.pace->over;
    if (std::exchange(latest.judged, latest.at) != latest.at || latest.times == 0) ++latest.times;
    const bool is_said = !verdict->reason.empty() || latest.times >= kMinutesUnexplained;
    if (!is_said || found_.size() == kMaxFound) continue;
    Evidence evidence;
    evidence.found.kind = FoundKind::slow;
    evidence.found.ranks = found_ranks(gang, {rank});
    evidence.found.ranks.front().cpu_milli = latest.pace->cpu_milli;
    evidence.found.lasting = now - latest.since;
    evidence.found.fact = verdict->reason;
    evidence.found.here = verdict->here;
    evidence.found.elsewhere = verdict->elsewhere;
    found_.push_back(std::move(evidence));
  }
  return found_;
}

}  // namespace lockstep::runner
