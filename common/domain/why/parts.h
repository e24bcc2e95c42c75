#pragma once
// Why a node's part of an attempt ended or did not start, as its runner or its agent knows it, and
// why a node takes no new part.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/assignment.h"
#include "common/domain/fabric.h"
#include "common/domain/found.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- of a runner --------------------------------------------------------------------------------
struct StoppedByOrder {
  static constexpr std::string_view kCode = "stopped_by_order";
  StopReason order = StopReason::canceled;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("order", self.order);
  }
  friend bool operator==(const StoppedByOrder&, const StoppedByOrder&) = default;
};

struct PeerEndedGang {
  static constexpr std::string_view kCode = "peer_ended_gang";
  int node_rank = 0;
  Why why;  // as that node told it
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node_rank", self.node_rank);
    see("why", self.why);
  }
  friend bool operator==(const PeerEndedGang&, const PeerEndedGang&) = default;
};

struct PortWasTaken {  // MASTER_PORT, before rank 0 listened
  static constexpr std::string_view kCode = "port_was_taken";
  int port = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("port", self.port);
  }
  friend bool operator==(const PortWasTaken&, const PortWasTaken&) = default;
};

struct GangHung {
  static constexpr std::string_view kCode = "gang_hung";
  FoundKind kind = FoundKind::waits;
  std::vector<int> ranks;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("kind", self.kind);
    see("ranks", self.ranks);
  }
  friend bool operator==(const GangHung&, const GangHung&) = default;
};

// What became of the process or the container that the ranks of a node were below.
enum class SpawnEnd { died, container_removed, container_gone };
std::string_view to_string(SpawnEnd end);
constexpr SpawnEnd last_enumerator(SpawnEnd) { return SpawnEnd::container_gone; }

struct RanksDiedWithSpawn {
  static constexpr std::string_view kCode = "ranks_died_with_spawn";
  SpawnEnd end = SpawnEnd::died;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("end", self.end);
  }
  friend bool operator==(const RanksDiedWithSpawn&, const RanksDiedWithSpawn&) = default;
};

struct RankServerDied {  // of MPI; ranks that had not finalized were ended
  static constexpr std::string_view kCode = "rank_server_died";
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const RankServerDied&, const RankServerDied&) = default;
};

struct LeaseRanOut {
  static constexpr std::string_view kCode = "lease_ran_out";
  Duration lease{0};
  bool without_agent = false;  // the runner found it: no agent was there, either
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("lease", self.lease);
    see("without_agent", self.without_agent);
  }
  friend bool operator==(const LeaseRanOut&, const LeaseRanOut&) = default;
};

struct RanTooLong {
  static constexpr std::string_view kCode = "ran_too_long";
  Duration limit{0};  // limits.timeout
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
  }
  friend bool operator==(const RanTooLong&, const RanTooLong&) = default;
};

struct PathIsBroken {
  static constexpr std::string_view kCode = "path_is_broken";
  PathFailure path;
  std::string from_name, to_name;  // of its nodes
  int more = 0;                    // paths of the gang that are broken
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("path", self.path);
    see("from_name", self.from_name);
    see("to_name", self.to_name);
    see("more", self.more);
  }
  friend bool operator==(const PathIsBroken&, const PathIsBroken&) = default;
};

struct GangNotConnected {
  static constexpr std::string_view kCode = "gang_not_connected";
  Duration within{0};
  Why why;  // if this node knows
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("within", self.within);
    see("why", self.why);
  }
  friend bool operator==(const GangNotConnected&, const GangNotConnected&) = default;
};

struct ProbeDidNotEnd {
  static constexpr std::string_view kCode = "probe_did_not_end";
  Duration within{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("within", self.within);
  }
  friend bool operator==(const ProbeDidNotEnd&, const ProbeDidNotEnd&) = default;
};

struct ProbeFailed {  // and named no path
  static constexpr std::string_view kCode = "probe_failed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const ProbeFailed&, const ProbeFailed&) = default;
};

// What is wrong with a gang's table, as a node's parent in the tree passed it on.
enum class TableFault { other_attempt, out_of_order, wrong_count, altered, incomplete };
std::string_view to_string(TableFault fault);
constexpr TableFault last_enumerator(TableFault) { return TableFault::incomplete; }

struct GangTableRefused {
  static constexpr std::string_view kCode = "gang_table_refused";
  int parent = 0;  // node rank
  TableFault fault = TableFault::altered;
  std::string attempt;     // other_attempt: its
  int first = 0, due = 0;  // out_of_order: the row that came, and the one that was due
  int nodes = 0;           // of the gang
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("parent", self.parent);
    see("fault", self.fault);
    see("attempt", self.attempt);
    see("first", self.first);
    see("due", self.due);
    see("nodes", self.nodes);
  }
  friend bool operator==(const GangTableRefused&, const GangTableRefused&) = default;
};

struct OrderLacksGang {  // the agent was replaced by an older one
  static constexpr std::string_view kCode = "order_lacks_gang";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const OrderLacksGang&, const OrderLacksGang&) = default;
};

struct LimitsAreRequired {  // lockstep.limits: required
  static constexpr std::string_view kCode = "limits_are_required";
  Why why;  // the limit that is not enforced
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const LimitsAreRequired&, const LimitsAreRequired&) = default;
};

// ---- of an agent --------------------------------------------------------------------------------
struct StoppedEarly {
  static constexpr std::string_view kCode = "stopped_early";
  bool has_directory = false;  // its working directory was made, but its runner was not started
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("has_directory", self.has_directory);
  }
  friend bool operator==(const StoppedEarly&, const StoppedEarly&) = default;
};

struct RunnerDied {  // without a final report
  static constexpr std::string_view kCode = "runner_died";
  bool is_unwatched = false;      // while no agent was there
  std::string removed_directory;  // the attempt's, if somebody removed it
  std::string said;               // the end of its own log
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("is_unwatched", self.is_unwatched);
    see("removed_directory", self.removed_directory);
    see("said", self.said);
  }
  friend bool operator==(const RunnerDied&, const RunnerDied&) = default;
};

struct RunnerWasKilled {  // it did not stop in time
  static constexpr std::string_view kCode = "runner_was_killed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RunnerWasKilled&, const RunnerWasKilled&) = default;
};

struct RunnerToldNoEnd {  // it finished without how its ranks ended
  static constexpr std::string_view kCode = "runner_told_no_end";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RunnerToldNoEnd&, const RunnerToldNoEnd&) = default;
};

struct HoldsMostParts {
  static constexpr std::string_view kCode = "holds_most_parts";
  int parts = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("parts", self.parts);
  }
  friend bool operator==(const HoldsMostParts&, const HoldsMostParts&) = default;
};

struct DiskLimitReached {
  static constexpr std::string_view kCode = "disk_limit_reached";
  Bytes used;
  Bytes removed;  // of these, in files without a name that are open
  Bytes limit;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("used", self.used);
    see("removed", self.removed);
    see("limit", self.limit);
  }
  friend bool operator==(const DiskLimitReached&, const DiskLimitReached&) = default;
};

struct DiskIsFull {  // and of all jobs of the node this one uses most of it
  static constexpr std::string_view kCode = "disk_is_full";
  Bytes free, total;
  Bytes used, removed;  // as in DiskLimitReached
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("free", self.free);
    see("total", self.total);
    see("used", self.used);
    see("removed", self.removed);
  }
  friend bool operator==(const DiskIsFull&, const DiskIsFull&) = default;
};

// An environment that could not be made before, and is not tried again unchanged.
struct EnvironmentFailedBefore {
  static constexpr std::string_view kCode = "environment_failed_before";
  std::string environment;  // "environment 0123456789ab (conda, linux-64)"
  Instant at;
  JobId job;
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("environment", self.environment);
    see("at", self.at);
    see("job", self.job);
    see("said", self.said);
  }
  friend bool operator==(const EnvironmentFailedBefore&, const EnvironmentFailedBefore&) = default;
};

// ---- of a node that takes no new part -----------------------------------------------------------
struct DiskIsLow {
  static constexpr std::string_view kCode = "disk_is_low";
  Bytes low;  // less is free
  std::string folder;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("low", self.low);
    see("folder", self.folder);
  }
  friend bool operator==(const DiskIsLow&, const DiskIsLow&) = default;
};

struct ProcessesAreScarce {  // of all jobs of the node together
  static constexpr std::string_view kCode = "processes_are_scarce";
  long long limit = 0;
  std::string cgroup;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
    see("cgroup", self.cgroup);
  }
  friend bool operator==(const ProcessesAreScarce&, const ProcessesAreScarce&) = default;
};

// ---- of the launcher, about what a node told ----------------------------------------------------
struct NoFinalReport {  // of a part that ended
  static constexpr std::string_view kCode = "no_final_report";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoFinalReport&, const NoFinalReport&) = default;
};

struct IncompleteReport {
  static constexpr std::string_view kCode = "incomplete_report";
  int ranks = 0;  // in it
  int wanted = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("ranks", self.ranks);
    see("wanted", self.wanted);
  }
  friend bool operator==(const IncompleteReport&, const IncompleteReport&) = default;
};

struct LockWasNotKept {  // of an environment
  static constexpr std::string_view kCode = "lock_was_not_kept";
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const LockWasNotKept&, const LockWasNotKept&) = default;
};

using PartReasons =
    List<StoppedByOrder, PeerEndedGang, PortWasTaken, GangHung, RanksDiedWithSpawn, RankServerDied,
         LeaseRanOut, RanTooLong, PathIsBroken, GangNotConnected, ProbeDidNotEnd, ProbeFailed,
         OrderLacksGang, GangTableRefused, LimitsAreRequired, StoppedEarly, RunnerDied,
         RunnerWasKilled, RunnerToldNoEnd, HoldsMostParts, DiskLimitReached, DiskIsFull,
         EnvironmentFailedBefore, DiskIsLow, ProcessesAreScarce, NoFinalReport, IncompleteReport,
         LockWasNotKept>;

}  // namespace lockstep
