// Ranks in RAS's reports as ranks of the job.

#include <optional>
#include <set>
#include <utility>

#include "runner/watch/ras/ras_report.h"

namespace lockstep::runner {
namespace {

// Processes of the job by pid. Several nodes may use the same pids; in containers all do.
class RasNames {
 public:
  explicit RasNames(const std::vector<RasProcess>& processes) {
    for (const RasProcess& process : processes) {
      if (process.pid <= 0) continue;
      add(by_pid_, process.pid, process.rank);
      for (const std::string& address : process.addresses)
        add(by_place_, std::make_pair(process.pid, address), process.rank);
    }
  }

  // The rank of a process. A host name that matches no node is ignored, as in a container or behind
  // NAT.
  std::optional<int> rank_of(int pid, const std::string& host) const {
    const auto there = by_place_.find({pid, host});
    const auto anywhere = by_pid_.find(pid);
    const int rank = there != by_place_.end()    ? there->second
                     : anywhere != by_pid_.end() ? anywhere->second
                                                 : kSeveral;
    return rank == kSeveral ? std::nullopt : std::optional(rank);
  }

 private:
  static constexpr int kSeveral = -1;
  template <typename Key>
  static void add(std::map<Key, int>& into, const Key& key, int rank) {
    const auto [known, is_new] = into.emplace(key, rank);
    if (!is_new && known->second != rank) known->second = kSeveral;
  }
  std::map<int, int> by_pid_;
  std::map<std::pair<int, std::string>, int> by_place_;
};

// Whether a collective is of two ranks: in a pipeline, one of them may send more often than the
// other.
bool is_of_two(const std::string& kind) {
  return kind.starts_with("Send") || kind.starts_with("Recv");
}

// The kinds of collectives that ranks of the communicator launch, if all ranks launch them.
std::set<std::string> launched_kinds(const RasCommunicator& communicator) {
  std::set<std::string> kinds;
  const auto take = [&](const RasCounts& counts) {
    for (const auto& [name, count] : counts)
      if (count > 0 && kinds.size() < kMaxRasCounts && !is_of_two(name)) kinds.insert(name);
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
    // The text lists only ranks that differ. All others of the whole job launched the same number.
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
