#pragma once
// Compacts a list of facts into a shorter one with the same fold. It drops superseded facts and
// never summarizes them, so that there is no second form of the state. It drops a part's reports
// except the last and the first of each state (they are the job's events), the sessions before the
// last, deleted jobs and versions, forgotten tokens, and flags and grants that were taken back. If
// a kept fact depends on dropped ones (for a job's order, a part's revision), the value is written
// into the kept fact. Compacting again changes nothing. Holds two States, and does no I/O.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/state/state.h"

namespace lockstep::launcher {

class Compaction {
 public:
  // Call see() with all facts in order. Then call keep() with the same facts in order: it returns
  // each fact, perhaps rewritten, or nullopt to drop it. Then append the facts of closing().
  void see(const StampedFact& fact);
  std::optional<StampedFact> keep(const StampedFact& fact);
  std::vector<StampedFact> closing();

  // The fold of all facts, and whether the kept facts fold to the same state.
  const State& state() const { return whole_; }
  bool sound() const { return kept_ == whole_; }

 private:
  struct FactFilter;
  struct Sessions {
    std::uint64_t last = 0;            // the last NodeSessionStarted
    std::vector<std::uint64_t> began;  // positions where a new session began; bounded
    std::optional<SessionId> current;
    std::uint64_t lost = 0, drained = 0, labelled = 0, noticed = 0;  // the last fact of each kind
  };
  void record(const Fact& fact);
  bool is_of_host(NodeId node, std::uint64_t at) const;

  State whole_, kept_;
  std::uint64_t seen_ = 0, at_ = 0;
  Instant newest_;
  std::map<JobId, std::uint64_t> deleted_;  // the last JobDeleted of each name
  struct Reports {
    std::uint64_t last = 0;                   // the last PartChanged
    std::uint64_t saved = 0;                  // the last CheckpointSaved
    std::uint64_t sent = 0;                   // the last OutputsSoFar
    std::optional<PartState> state;           // the state in the last report that was kept
    std::optional<CollectedOutput> restored;  // in any report so far
    std::optional<EnvironmentReport> environment;
    std::optional<ProbeResult> probe;
    NetworkSettings settings;
    SettingOverrides other_settings;
  };
  std::map<std::pair<AttemptId, NodeId>, Reports> reported_;
  std::map<std::uint64_t, EnvironmentId> locked_;  // the environment of each EnvironmentLocked
  std::map<NodeId, Sessions> nodes_;
  std::map<Digest, std::uint64_t> forgotten_;                              // join tokens
  std::map<std::pair<std::string, std::string>, std::uint64_t> labelled_;  // by pool and machine
  // The last fact of this kind for each name.
  std::map<JobId, std::uint64_t> shared_, archived_, annotated_;
  // The last registration of each version.
  std::map<std::pair<NameKey, std::string>, std::uint64_t> registered_;
  std::uint64_t restored_ = 0;  // the last IncarnationBegan of a restore
};

std::vector<StampedFact> compact(const std::vector<StampedFact>& facts);

}  // namespace lockstep::launcher
