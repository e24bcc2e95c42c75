#pragma once
// A shorter list of facts with the same fold. It drops facts and never sums them up, so that there
// is no second form of the state: what is superseded goes (of a part's reports all but the last and
// the first of each state, which are the job's events; the sessions before the last, deleted jobs,
// forgotten tokens), the rest stays as it was. What a fact takes from the ones before it that are
// dropped (a job's place, a part's revision) is written into it. Compacting again changes nothing.
// It holds two States, and does no I/O.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/core/state.h"

namespace lockstep::launcher {

class Compaction {
 public:
  // First all facts, in order; then the same again, in order, each kept (perhaps rewritten) or not;
  // then closing(), what is to follow the kept ones.
  void see(const StampedFact& fact);
  std::optional<StampedFact> keep(const StampedFact& fact);
  std::vector<StampedFact> closing();

  // The fold of all facts, and whether what was kept folds to the same.
  const State& state() const { return whole_; }
  bool sound() const { return kept_ == whole_; }

 private:
  struct FactFilter;
  struct Sessions {
    std::uint64_t last = 0;            // of NodeSessionStarted
    std::vector<std::uint64_t> began;  // where the session became another; bounded
    std::optional<SessionId> current;
    std::uint64_t lost = 0, drained = 0;  // the last of each
  };
  void record(const Fact& fact);

  State whole_, kept_;
  std::uint64_t seen_ = 0, at_ = 0;
  Instant newest_;
  std::map<JobId, std::uint64_t> deleted_;  // the last JobDeleted of each name
  struct Reports {
    std::uint64_t last = 0;                   // PartChanged
    std::uint64_t saved = 0;                  // the last CheckpointSaved
    std::optional<PartState> state;           // of the last that was kept
    std::optional<CollectedOutput> restored;  // of any so far
    std::optional<EnvironmentReport> environment;
  };
  std::map<std::pair<AttemptId, NodeId>, Reports> reported_;
  std::map<NodeId, Sessions> nodes_;
  std::map<Digest, std::uint64_t> forgotten_;  // tokens
  std::map<JobId, std::uint64_t> shared_;      // the last JobShared of each name
  std::uint64_t restored_ = 0;                 // the last IncarnationBegan of a restore
};

std::vector<StampedFact> compact(const std::vector<StampedFact>& facts);

}  // namespace lockstep::launcher
