// RAS's ranks as ranks of the job.

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "runner/watch/ras_report.h"

namespace lockstep::runner {
namespace {

// Processes of the job by pid, which several nodes may have.
class RasNames {
 public:
  explicit RasNames(const std::vector<RasProcess>& processes) {
    for (const RasProcess& process : processes)
      if (process.pid > 0) by_pid_.emplace(process.pid, &process);
  }

  // A host that no node is known by decides nothing, as in a container or behind NAT.
  std::optional<int> rank_of(int pid, const std::string& host) const {
    const auto [from, to] = by_pid_.equal_range(pid);
    if (from == to) return std::nullopt;
    for (auto each = from; each != to; ++each) {
      const auto& addresses = each->second->addresses;
      if (std::find(addresses.begin(), addresses.end(), host) != addresses.end())
        return each->second->rank;
    }
    return std::next(from) == to ? std::optional(from->second->rank) : std::nullopt;
  }

 private:
  std::multimap<int, const RasProcess*> by_pid_;
};

// The kinds that any rank of the communicator has launched.
std::set<std::string> launched_kinds(const RasCommunicator& communicator) {
  std::set<std::string> kinds;
  const auto take = [&](const RasCounts& counts) {
    for (const auto& [name, count] : counts)
      if (count > 0 && kinds.size() < kMaxRasCounts) kinds.insert(name);
  };
  for (const RasRank& rank : communicator.ranks) take(rank.counts);
  take(communicator.others);
  return kinds;
}

std::int64_t count_of(const RasCounts& counts, const std::string& kind, std::int64_t otherwise) {
  const auto found = counts.find(kind);
  return found == counts.end() ? otherwise : found->second;
}

}  // namespace

std::map<int, std::vector<CollectiveCount>> counts_by_rank(
    const RasReport& report, const std::vector<RasProcess>& processes) {
  const RasNames names(processes);
  std::map<int, std::vector<CollectiveCount>> found;
  for (const RasCommunicator& communicator : report.communicators) {
    std::map<int, const RasCounts*> of_ranks;
    for (const RasRank& rank : communicator.ranks)
      if (const auto job_rank = names.rank_of(rank.pid, rank.host))
        of_ranks[*job_rank] = &rank.counts;
    // A text names only those that differ; all others of the whole job launched as many.
    if (!communicator.others.empty() && communicator.size == static_cast<int>(processes.size()))
      for (const RasProcess& process : processes)
        of_ranks.emplace(process.rank, &communicator.others);
    for (const std::string& kind : launched_kinds(communicator))
      for (const auto& [rank, counts] : of_ranks) {
        auto& list = found[rank];
        const std::int64_t count = count_of(*counts, kind, count_of(communicator.others, kind, 0));
        if (list.size() < kMaxCollectiveCounts) list.push_back({communicator.hash, kind, count});
      }
  }
  return found;
}

std::vector<int> unanswering_ranks(const RasReport& report,
                                   const std::vector<RasProcess>& processes) {
  const RasNames names(processes);
  std::set<int> found;
  const auto take = [&](const std::vector<RasMissing>& all) {
    for (const RasMissing& each : all)
      if (const auto rank = names.rank_of(each.pid, each.host)) found.insert(*rank);
  };
  for (const RasCommunicator& communicator : report.communicators) take(communicator.missing);
  take(report.dead);
  return {found.begin(), found.end()};
}

}  // namespace lockstep::runner
