#include "runner/watch/rank_track.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/cut.h"
#include "runner/watch/doing.h"

namespace lockstep::runner {
namespace {

// The activity that helper threads of libraries cause while their rank waits.
constexpr std::uint64_t kNoiseFaults = 256;   // faults in kWatchEvery
constexpr std::uint64_t kNoiseBytes = 4'096;  // bytes read and written, in a window
constexpr std::int64_t kNoiseOfNccl = 4'096;  // bytes on one socket: keep-alives of RAS
constexpr std::int64_t kBusyMilli = 200;      // milli of a core, more than helpers use
constexpr std::int64_t kWorkerBusyMilli = 500;
constexpr std::int64_t kIdleMilli = 50;
constexpr Duration kUnseenAfter = 3 * kWatchEvery;
constexpr Duration kStackLead = seconds(15);  // how long before the hang's time a stack is taken
constexpr int kMostDoublings = 12;

Duration of_ticks(std::uint64_t ticks) {
  static const auto per_second = static_cast<std::uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
  return Duration(static_cast<std::int64_t>(ticks * (1'000'000'000 / per_second)));
}

std::int64_t milli_of(Duration part, Duration whole) {
  if (whole <= Duration::zero() || part <= Duration::zero()) return 0;
  return static_cast<std::int64_t>(1000.0 * static_cast<double>(part.count()) /
                                   static_cast<double>(whole.count()));
}

std::uint64_t grown(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

const ProcessLook* same_process(const RankLook& look, const ThreadStat& stat) {
  for (const ProcessLook& each : look.processes)
    if (each.stat.pid == stat.pid && each.stat.start_ticks == stat.start_ticks) return &each;
  return nullptr;
}

// Whether a process is stopped by a debugger or a profiler. The rank's first process may be a shell
// above this one.
bool is_traced(const ProcessLook& process) {
  return process.stat.state == 't' || (process.stat.state == 'T' && process.tracer != 0);
}

// Whether another thread may wake up by itself and release the lock.
bool may_be_woken(const ThreadCounts& threads) {
  return threads.at_timers > 0 || threads.at_others > 0 || threads.at_listeners > 0 ||
         threads.may_be_freed;
}

// Whether a rank is stopped. A child that the rank itself stopped, or that somebody stopped while
// it helped, does not stop the rank. The rank's program, below the shell that started it, does.
bool is_stopped(const RankLook& look, const ProcessLook& working) {
  constexpr std::string_view kShells[] = {"sh",   "bash", "dash",    "zsh",  "ksh",
                                          "fish", "time", "timeout", "nice", "setsid"};
  const ThreadStat& top = look.processes[0].stat;
  if (top.state == 'T') return true;
  const bool below_shell =
      std::find(std::begin(kShells), std::end(kShells), top.name) != std::end(kShells);
  return working.stat.state == 'T' && (below_shell || working.stat.cpu_ticks > top.cpu_ticks);
}

std::set<std::pair<int, std::uint64_t>> identities(const RankLook& look) {
  std::set<std::pair<int, std::uint64_t>> all;
  for (const ProcessLook& each : look.processes) all.insert({each.stat.pid, each.stat.start_ticks});
  return all;
}

}  // namespace

// The difference between two looks.
struct RankTrack::Step {
  Duration window{0};
  std::vector<std::int64_t> milli;  // milli of a core for each process of the look
  Duration cpu{0};
  std::uint64_t minor_faults = 0, major_faults = 0;
  Duration disk_wait{0};
};

namespace {

std::vector<Duration> cpu_of_processes(const RankLook& before, const RankLook& now) {
  std::vector<Duration> cpu;
  for (const ProcessLook& each : now.processes) {
    const ProcessLook* const was = same_process(before, each.stat);
    cpu.push_back(of_ticks(grown(each.stat.cpu_ticks, was ? was->stat.cpu_ticks : 0)));
  }
  return cpu;
}

}  // namespace

void RankTrack::take(const RankLook& look, const RankFacts& facts, const NodeFacts& node) {
  Step step;
  if (before_) step.window = std::max(look.taken - before_->taken, Duration::zero());
  if (!facts.lives) {
    take_facts(look, facts, node);
    return end(facts, look.taken);
  }
  if (!before_) {
    move(look.taken);
    standing_.doing_since = look.taken;
  }
  const Duration seen = step.window > kUnseenAfter ? kWatchEvery : step.window;
  shift(step.window - seen);
  const RankLook& earlier = before_ ? *before_ : look;
  const std::vector<Duration> cpu = cpu_of_processes(earlier, look);
  for (std::size_t i = 0; i < look.processes.size(); ++i) {
    const ThreadStat& stat = look.processes[i].stat;
    const ProcessLook* const was = same_process(earlier, stat);
    step.cpu += cpu[i];
    step.milli.push_back(milli_of(cpu[i], step.window));
    step.minor_faults += grown(stat.minor_faults, was ? was->stat.minor_faults : 0);
    step.major_faults += grown(stat.major_faults, was ? was->stat.major_faults : 0);
    if (was) step.disk_wait += of_ticks(grown(stat.disk_wait_ticks, was->stat.disk_wait_ticks));
  }
  const bool moved = has_moved(look, step) || facts.log_bytes != standing_.log_bytes ||
                     facts.connected != standing_.connected ||
                     facts.finalized != standing_.finalized || node.fences != standing_.fences;
  take_facts(look, facts, node);
  take_counters(look, step);
  take_hindrances(look, step);
  const bool is_seen = !look.processes.empty();
  standing_.traced = std::any_of(look.processes.begin(), look.processes.end(), is_traced);
  if (standing_.traced) {
    shift(seen);
  } else if (moved || !is_seen) {
    move(look.taken);
    moves_by_stack_ = 0;
  }
  if (is_seen && !standing_.traced && before_) judge(look, step);
  before_ = look;
}

// ---- what it was told ---------------------------------------------------------------------------

void RankTrack::take_facts(const RankLook& look, const RankFacts& facts, const NodeFacts& node) {
  standing_.node_rank = node.node_rank;
  standing_.window = before_ ? look.taken - before_->taken : Duration::zero();
  standing_.taken = look.taken;
  standing_.log_bytes = facts.log_bytes;
  standing_.log_lines = facts.log_lines;
  standing_.hindrances.gpu_held = facts.gpu_held;
  standing_.connected = facts.connected;
  standing_.finalized = facts.finalized;
  standing_.fences = node.fences;
  standing_.in_fence = node.in_fence;
  has_met_ =
      has_met_ || facts.connected || look.at_store || (look.peers && look.peers->sockets > 0);
  if (node.meets_at_pmix || node.meets_at_store) standing_.has_met = has_met_;
}

void RankTrack::end(const RankFacts& facts, Instant now) {
  standing_.exit_code = facts.exit_code;
  standing_.cpu_milli = 0;
  standing_.threads = standing_.threads_running = standing_.threads_in_device = 0;
  standing_.processes = standing_.shells = 0;
  standing_.traced = standing_.has_timeout = standing_.pauses = false;
  standing_.call.clear();
  standing_.on.clear();
  standing_.own_end.clear();
  if (standing_.doing != Doing::exited) {
    standing_.doing = Doing::exited;
    standing_.doing_since = now;
    move(now);
  }
  before_.reset();
}

// Moves times forward, as if the pause had not happened.
void RankTrack::shift(Duration unseen) {
  const bool same = asked_since_ == standing_.since;
  const auto later = [&](Instant& time) { time = time + unseen; };
  later(standing_.since);
  later(standing_.doing_since);
  if (same) asked_since_ = standing_.since;
  if (stack_) later(stack_->taken);
}

// ---- counters -----------------------------------------------------------------------------------

bool RankTrack::has_moved(const RankLook& look, const Step& step) const {
  if (!before_) return true;
  if (identities(look) != identities(*before_)) return true;
  const double windows =
      static_cast<double>(step.window.count()) / static_cast<double>(Duration(kWatchEvery).count());
  if (static_cast<double>(step.minor_faults + step.major_faults) >=
      static_cast<double>(kNoiseFaults) * std::max(windows, 0.2))
    return true;
  if (look.bytes && before_->bytes &&
      grown(look.bytes->read, before_->bytes->read) +
              grown(look.bytes->written, before_->bytes->written) >=
          kNoiseBytes)
    return true;
  if (!look.peers) return false;
  const std::int64_t noise = standing_.versions.nccl.empty() ? 0 : kNoiseOfNccl;
  return look.peers->any_opened || look.peers->most_moved > noise;
}

void RankTrack::take_counters(const RankLook& look, const Step& step) {
  standing_.cpu_milli = milli_of(step.cpu, step.window);
  standing_.processes = static_cast<int>(look.processes.size());
  standing_.threads = 0;
  for (const ProcessLook& each : look.processes) standing_.threads += each.stat.threads;
  standing_.threads_running = standing_.threads_in_device = 0;
  for (const ProcessLook& each : look.processes) {
    if (each.main.state == 'R') ++standing_.threads_running;
    if (each.main.state == 'D') ++standing_.threads_in_device;
  }
  if (look.threads) {
    standing_.threads_running = look.threads->running;
    standing_.threads_in_device = look.threads->device;
  }
  standing_.claims = std::max(1, look.pmix_connections);
  if (!look.peers) return;
  standing_.peer_sockets = look.peers->sockets;
  standing_.acked = look.peers->acked;
  standing_.received = look.peers->received;
  standing_.unread = look.peers->unread;
  standing_.unacked = look.peers->unacked;
  standing_.unacked_by = look.peers->unacked_by;
  standing_.retransmits = look.peers->retransmits;
  standing_.last_received = look.peers->since_received;
}

void RankTrack::take_hindrances(const RankLook& look, const Step& step) {
  Hindrances& hindrances = standing_.hindrances;
  hindrances.major_faults = static_cast<std::int64_t>(before_ ? step.major_faults : 0);
  hindrances.disk_wait_milli = milli_of(step.disk_wait, step.window);
  if (look.queued && before_ && before_->queued)
    hindrances.queued_milli = milli_of(*look.queued - *before_->queued, step.window);
  if (!look.throttled && look.cpu_mhz == 0) return;
  hindrances.cpu_mhz = look.cpu_mhz;
  hindrances.cpu_mhz_at_most = look.cpu_mhz_at_most;
  if (look.throttled && slow_before_ && slow_before_->throttled)
    hindrances.throttled_milli =
        milli_of(*look.throttled - *slow_before_->throttled, look.taken - slow_before_->taken);
  slow_before_ = look;
}

// ---- what it does -------------------------------------------------------------------------------

// The process whose main thread shows the rank's activity.
std::size_t RankTrack::telling_process(const RankLook& look, const Step& step) {
  const std::size_t at = working_process(look);
  // A worker that works while its rank waits for it shows the rank's activity.
  if (step.milli[at] >= kBusyMilli || !may_have_workers(look.processes[at].main.on)) return at;
  for (std::size_t i = 0; i < look.processes.size(); ++i) {
    const bool works =
        step.milli[i] >= kWorkerBusyMilli || look.processes[i].main.on == WaitsOn::file;
    if (i != at && works) return i;
  }
  return at;
}

void RankTrack::judge(const RankLook& look, const Step& step) {
  const std::size_t at = telling_process(look, step);
  const ProcessLook& process = look.processes[at];
  const ThreadLook& thread = process.main;
  const ProcessLook* const was = same_process(*before_, process.stat);
  standing_.pid = process.own_pid;
  standing_.shells = shells_above(look, at);
  standing_.pauses = has_met_ && (thread.on == WaitsOn::peer || thread.on == WaitsOn::store ||
                                  thread.on == WaitsOn::lock);
  standing_.by_stack = false;
  const bool is_held = thread.state == 'D' && was != nullptr && was->main.state == 'D' &&
                       step.milli[at] < kIdleMilli;
  Doing doing = step.milli[at] >= kBusyMilli ? Doing::computes : doing_of(look, thread);
  if (is_stopped(look, process))
    doing = Doing::stopped;
  else if (is_held)
    doing = Doing::device;
  const bool is_blocked = doing != Doing::computes && doing != Doing::stopped;
  const bool by_other_thread = doing == Doing::waits_peer && thread.on == WaitsOn::lock;
  const ThreadLook& shown = by_other_thread ? look.threads->at_peer : thread;
  // If one thread waits for a lock and another at the store or the PMIx server, only a stack tells
  // which of them counts.
  const bool is_open = thread.on == WaitsOn::lock && look.threads &&
                       (may_be_woken(*look.threads) || look.threads->at_store > 0);
  const bool by_reader = doing == Doing::reads && thread.on == WaitsOn::lock;
  const bool is_named = (is_blocked && !by_reader) || thread.on == WaitsOn::gpu;
  standing_.call = is_named ? shown.call : "";
  standing_.on = is_blocked ? cut(shown.far, kMaxStandingTextBytes - 4) : "";
  standing_.own_end = is_blocked ? shown.near : "";
  standing_.has_timeout = is_blocked && (shown.has_timeout || is_open);
  standing_.doing = doing;
  obey_stack(look, process);
  const std::string key =
      fmt::format("{} {} {}", to_string(standing_.doing), standing_.call, standing_.on);
  if (std::exchange(last_key_, key) != key) standing_.doing_since = look.taken;
}

// Follows the rank's stack, which takes precedence unless the rank has moved since.
void RankTrack::obey_stack(const RankLook& look, const ProcessLook& process) {
  const Doing doing = standing_.doing;
  const bool is_told = stack_ && stack_->taken >= standing_.since &&
                       stack_->pid == process.own_pid && doing != Doing::stopped &&
                       doing != Doing::device;
  standing_.by_stack = is_told;
  standing_.stack_at = is_told ? stack_->taken : Instant{};
  standing_.at = is_told ? stack_->at : "";
  standing_.within = is_told ? stack_->within : "";
  if (!is_told) return;
  const WaitsOn on = process.main.on;
  if (stack_->waits) {
    standing_.doing = Doing::waits_peer;
  } else if (on == WaitsOn::lock && (doing == Doing::waits_peer || doing == Doing::locks)) {
    standing_.doing = doing_at_lock(process.main);
    standing_.call = process.main.call;
    standing_.on.clear();
    standing_.own_end.clear();
    standing_.has_timeout =
        process.main.has_timeout || (look.threads && may_be_woken(*look.threads));
  } else if (on == WaitsOn::unknown && doing == Doing::waits_peer) {
    standing_.doing = Doing::reads;  // only its sockets to peers suggested that it waits for one
  }
}

bool RankTrack::wants_close_look(Instant now) const {
  if (!before_ || standing_.doing == Doing::exited) return false;
  return now - standing_.since >= kLookCloselyAfter;
}

// ---- stacks and counts --------------------------------------------------------------------------

bool RankTrack::wants_stack(Instant now, Duration after) const {
  if (after <= Duration::zero() || standing_.traced || !before_) return false;
  switch (standing_.doing) {
    case Doing::computes:
    case Doing::waits_peer:
    case Doing::reads:
    case Doing::locks:
    case Doing::sleeps: break;
    case Doing::starts:
    case Doing::serves:
    case Doing::stopped:
    case Doing::device:
    case Doing::exited: return false;
  }
  const int asked = asked_since_ == standing_.since ? asked_ : 0;
  const Duration lead = std::min<Duration>(kStackLead, after / 4);
  const int doublings = std::min(asked / 2 + moves_by_stack_, kMostDoublings);
  const Duration wait = after * (std::int64_t{1} << doublings);
  return now >= standing_.since + wait - (asked % 2 == 0 ? lead : lead / 3);
}

void RankTrack::take_stack(const std::optional<StackTop>& top, Instant at) {
  if (asked_since_ != standing_.since) asked_ = 0;
  asked_since_ = standing_.since;
  ++asked_;
  if (!top) return;
  const bool differs =
      stack_ && stack_->taken >= standing_.since && stack_->pid == top->pid &&
      (stack_->waits != top->waits || stack_->within != top->within || stack_->at != top->at);
  stack_ = *top;
  stack_->taken = at;
  if (!differs) return;
  move(at);
  ++moves_by_stack_;
}

void RankTrack::take_counts(std::vector<CollectiveCount> counts, Instant at) {
  if (counts.size() > kMaxCollectiveCounts) counts.resize(kMaxCollectiveCounts);
  if (at <= standing_.counted) return;
  if (standing_.counted == Instant{} || counts != standing_.collectives) {
    standing_.counts_since = at;
    if (standing_.doing != Doing::exited) move(std::max(at, standing_.since));
  }
  standing_.collectives = std::move(counts);
  standing_.counted = at;
}

}  // namespace lockstep::runner
