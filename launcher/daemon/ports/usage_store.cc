#include "launcher/daemon/ports/usage_store.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace lockstep::launcher {
namespace {

// the number of missing reports after which the newest one is out of date
constexpr int kReportsMissed = 3;
constexpr Duration kAllowance = seconds(2);

std::uint32_t fitting(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

UsageReport own_use(const State& state, NodeId node, UsageReport report, std::size_t* left_out) {
  std::set<AttemptId> seen;
  std::vector<PartUse> own;
  for (PartUse& part : report.parts) {
    const Attempt* attempt = state.attempt(part.attempt);
    const bool is_own = attempt != nullptr && state.assigned_part(part.attempt, node) != nullptr &&
                        seen.insert(part.attempt).second;
    if (!is_own) {
      ++*left_out;
      continue;
    }
    const auto at = std::find_if(attempt->parts.begin(), attempt->parts.end(),
                                 [&](const Part& one) { return one.node == node; });
    const JobSpec& spec = state.job(part.attempt.job)->spec;
    const int node_rank = static_cast<int>(at - attempt->parts.begin());
    const int count = spec.ranks_on(node_rank), first = spec.first_rank_on(node_rank);
    std::set<int> ranks;
    *left_out += std::erase_if(part.ranks, [&](const RankUse& rank) {
      return rank.rank < first || rank.rank >= first + count || !ranks.insert(rank.rank).second;
    });
    own.push_back(std::move(part));
  }
  report.parts = std::move(own);
  report.every =
      std::clamp<Duration>(report.every, kShortestSampleInterval, kLongestSampleInterval);
  return report;
}

void UsageStore::take(Instant now, NodeId node, UsageReport report) {
  Node& known = nodes_[node];
  const NodeUse& use = report.use;
  const std::size_t newest = (known.next + kUseSamples - 1) % kUseSamples;
  if (known.ring.empty() || now - known.ring[newest].at >= kUseSampleEvery) {
    if (known.ring.size() < kUseSamples) known.ring.resize(known.ring.size() + 1);
    known.ring[known.next] = {now,
                              fitting(static_cast<std::uint64_t>(use.cpu_milli)),
                              fitting(use.memory.count >> 20),
                              fitting(use.received_per_second >> 10),
                              fitting(use.sent_per_second >> 10),
                              static_cast<std::int8_t>(mean_busy(use.gpus))};
    known.next = (known.next + 1) % kUseSamples;
  }
  known.newest = std::move(report);
  known.at = now;
}

void UsageStore::keep_only(const State& state) {
  if (nodes_.size() <= state.nodes().size()) return;
  std::erase_if(nodes_, [&](const auto& one) { return state.node(one.first) == nullptr; });
}

bool UsageStore::is_stale(Instant now, const Node& node) {
  return now - node.at > kReportsMissed * node.newest.every + kAllowance;
}

std::vector<UseSample> UsageStore::history_of(Instant now, const Node& node) {
  std::vector<UseSample> history;
  const std::size_t count = node.ring.size();
  const std::size_t oldest = count < kUseSamples ? 0 : node.next;
  for (std::size_t i = 0; i < count; ++i) {
    const Sample& sample = node.ring[(oldest + i) % count];
    const Duration age = std::max(now - sample.at, Duration::zero());
    if (age > kUseKeptFor) continue;
    history.push_back({age, sample.cpu_milli, mebibytes(sample.memory_mib),
                       std::uint64_t{sample.received_kib} << 10,
                       std::uint64_t{sample.sent_kib} << 10, sample.gpu_percent});
  }
  return history;
}

std::optional<MeasuredNode> UsageStore::of_node(Instant now, NodeId node, bool history) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  const Node& known = found->second;
  MeasuredNode measured{known.newest.use, std::max(now - known.at, Duration::zero()),
                        is_stale(now, known)};
  if (history) measured.history = history_of(now, known);
  return measured;
}

std::optional<MeasuredPart> UsageStore::of_part(Instant now, NodeId node,
                                                const AttemptId& attempt) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  const Node& known = found->second;
  for (const PartUse& part : known.newest.parts)
    if (part.attempt == attempt)
      return MeasuredPart{part.ranks, part.quiet, std::max(now - known.at, Duration::zero()),
                          is_stale(now, known)};
  return std::nullopt;
}

}  // namespace lockstep::launcher
