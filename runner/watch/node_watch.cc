#include "runner/watch/node_watch.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr Duration kFirstLookAfter = seconds(1);
constexpr Duration kSlowLook = minutes(1);
// A look may take a thousandth of one cpu's time for each rank; longer looks are made less often.
constexpr int kShareOfCpu = 1'000;
constexpr Duration kAtLeastEvery = 2 * kWatchEvery;
constexpr std::size_t kMostSaid = 16;
constexpr Duration kGpuClocksEvery = seconds(10);

std::vector<int> all_gpus(const std::map<int, std::vector<int>>& by_rank) {
  std::set<int> all;
  for (const auto& [rank, gpus] : by_rank) all.insert(gpus.begin(), gpus.end());
  return {all.begin(), all.end()};
}

}  // namespace

NodeWatch::NodeWatch(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts,
                     Settings settings, Callbacks callbacks)
    : clock_(clock),
      place_(place),
      settings_(std::move(settings)),
      callbacks_(std::move(callbacks)),
      stacks_(loop, clock, place, std::move(facts),
              [this](int rank, const std::optional<StackTop>& top, Instant at) {
                thread_.take_stack(rank, top, at);
              }),
      ras_(loop),
      gpu_clocks_(all_gpus(settings_.gpus), kGpuClocksEvery),
      thread_(loop, [this](WatchResult result) { take(std::move(result)); }) {
  node_.node_rank = settings_.node_rank;
  node_.meets_at_pmix = settings_.meets_at_pmix;
  node_.meets_at_store = settings_.meets_at_store;
}

// ---- what the runner knows ----------------------------------------------------------------------

void NodeWatch::rank_started(int rank, int pid) {
  RankFacts& facts = ranks_[rank];
  facts.rank = rank;
  facts.pid = pid;
  next_ = std::min(next_, clock_.now() + kFirstLookAfter);
}

void NodeWatch::rank_exited(int rank, int code) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  found->second.lives = false;
  found->second.exit_code = code;
}

void NodeWatch::rank_connected(int rank) {
  if (const auto found = ranks_.find(rank); found != ranks_.end()) found->second.connected = true;
}

void NodeWatch::rank_finalized(int rank) {
  if (const auto found = ranks_.find(rank); found != ranks_.end()) found->second.finalized = true;
}

void NodeWatch::fence_entered() {
  ++node_.fences;
  node_.in_fence = ++open_fences_ > 0;
}

void NodeWatch::fence_over() {
  open_fences_ = std::max(0, open_fences_ - 1);
  node_.in_fence = open_fences_ > 0;
}

void NodeWatch::take_counts(int rank, std::vector<CollectiveCount> counts, Instant at) {
  thread_.take_counts(rank, std::move(counts), at);
}

bool NodeWatch::ask_ras(RasClient::Told told) {
  if (!settings_.ras_port || ras_.is_asking()) return false;
  ras_.ask(clock_.now(), *settings_.ras_port, std::move(told));
  return true;
}

void NodeWatch::take_stacks(const std::vector<int>& ranks) {
  stacks_ordered_.insert(stacks_ordered_.end(), ranks.begin(), ranks.end());
  next_ = std::min(next_, clock_.now());
}

// ---- looks --------------------------------------------------------------------------------------

// The clock reason of the first of its GPUs that is held up.
std::string NodeWatch::gpu_held(int rank, const std::map<int, std::string>& held) const {
  const auto gpus = settings_.gpus.find(rank);
  if (gpus == settings_.gpus.end()) return "";
  for (const int gpu : gpus->second)
    if (const auto found = held.find(gpu); found != held.end() && !found->second.empty())
      return found->second;
  return "";
}

WatchLook NodeWatch::look() const {
  WatchLook look;
  look.place = {place_.spawn_pid(), settings_.pmix_pid};
  look.peers = settings_.peers;
  look.node = node_;
  look.stacks_after = settings_.stacks_after;
  look.stacks_now = stacks_ordered_;
  const std::map<int, std::string> held = gpu_clocks_.newest();
  for (const auto& [rank, facts] : ranks_) {
    look.ranks.push_back(facts);
    RankFacts& one = look.ranks.back();
    one.gpu_held = gpu_held(rank, held);
    if (one.lives && callbacks_.cgroup) one.cgroup = callbacks_.cgroup(rank);
    if (callbacks_.logged) std::tie(one.log_bytes, one.log_lines) = callbacks_.logged(rank);
  }
  return look;
}

void NodeWatch::expire(Instant now) {
  stacks_.expire(now);
  ras_.expire(now);
  if (now < next_) return;
  next_ = now + kWatchEvery;
  const Status begun = thread_.sample(now, look());
  if (begun) {
    stacks_ordered_.clear();
    busy_since_ = now;
    return;
  }
  if (begun.error().code == ErrorCode::resource_exhausted) {
    next_ = Instant::never();
    return say_once("the ranks of this node are not watched: " + begun.error().message);
  }
  if (busy_since_ != Instant::never() && now - busy_since_ > kSlowLook)
    say_once(fmt::format("a look at the ranks has not ended for {}: the kernel holds one of them",
                         format_duration(kSlowLook)));
}

void NodeWatch::take(WatchResult result) {
  busy_since_ = Instant::never();
  if (!result.unseen.empty()) say_once("sockets of ranks are not seen: " + result.unseen);
  if (result.standings.empty()) return;
  standings_ = std::move(result.standings);
  const auto ranks = static_cast<std::int64_t>(standings_.size());
  const Duration pause = std::min<Duration>(kAtLeastEvery, result.cpu_time * kShareOfCpu / ranks);
  if (next_ != Instant::never()) next_ = std::max(next_, result.taken + pause);
  const bool all_ended =
      std::all_of(standings_.begin(), standings_.end(),
                  [](const RankStanding& rank) { return rank.doing == Doing::exited; });
  if (all_ended) next_ = Instant::never();
  stacks_.ask(std::move(result.stacks_wanted));
  if (callbacks_.told) callbacks_.told(standings_);
}

void NodeWatch::say_once(const std::string& what) {
  if (said_.size() >= kMostSaid || std::find(said_.begin(), said_.end(), what) != said_.end())
    return;
  said_.push_back(what);
  spdlog::warn("{}", what);
}

void NodeWatch::end() {
  next_ = Instant::never();
  stacks_.end();
}

Instant NodeWatch::next_deadline() const {
  return std::min({next_, stacks_.next_deadline(), ras_.next_deadline()});
}

}  // namespace lockstep::runner
