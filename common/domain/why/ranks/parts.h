#pragma once
// Why a node's part of an attempt ended or did not start, as its runner or its agent knows it, and
// why a node takes no new part.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/time.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/ranks/found.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- of a runner --------------------------------------------------------------------------------
struct StoppedByOrder {
  static constexpr std::string_view kCode = "stopped_by_order";
  StopReason order = StopReason::canceled;
  LOCKSTEP_FIELDS(StoppedByOrder, order);
};

struct PeerEndedGang {
  static constexpr std::string_view kCode = "peer_ended_gang";
  int node_rank = 0;
  Why why;  // the reason that the peer sent
  LOCKSTEP_FIELDS(PeerEndedGang, node_rank, why);
};

struct PortWasTaken {  // MASTER_PORT, before rank 0 listened
  static constexpr std::string_view kCode = "port_was_taken";
  int port = 0;
  LOCKSTEP_FIELDS(PortWasTaken, port);
};

struct GangHung {
  static constexpr std::string_view kCode = "gang_hung";
  FoundKind kind = FoundKind::waits;
  std::vector<int> ranks;
  LOCKSTEP_FIELDS(GangHung, kind, ranks);
};

// How the process or the container ended below which the ranks of a node ran.
enum class SpawnEnd { died, container_removed, container_gone };
std::string_view to_string(SpawnEnd end);
constexpr SpawnEnd last_enumerator(SpawnEnd) { return SpawnEnd::container_gone; }

struct RanksDiedWithSpawn {
  static constexpr std::string_view kCode = "ranks_died_with_spawn";
  SpawnEnd end = SpawnEnd::died;
  LOCKSTEP_FIELDS(RanksDiedWithSpawn, end);
};

struct RankServerDied {  // The MPI server of the ranks died; ranks that had not finalized were
                         // ended.
  static constexpr std::string_view kCode = "rank_server_died";
  std::string said;
  LOCKSTEP_FIELDS(RankServerDied, said);
};

struct LeaseRanOut {
  static constexpr std::string_view kCode = "lease_ran_out";
  Duration lease{0};
  bool without_agent = false;  // the runner found it: no agent was there, either
  LOCKSTEP_FIELDS(LeaseRanOut, lease, without_agent);
};

struct RanTooLong {
  static constexpr std::string_view kCode = "ran_too_long";
  Duration limit{0};  // limits.timeout
  LOCKSTEP_FIELDS(RanTooLong, limit);
};

struct PathIsBroken {
  static constexpr std::string_view kCode = "path_is_broken";
  PathFailure path;
  std::string from_name, to_name;  // the names of the path's nodes
  int more = 0;                    // paths of the gang that are broken
  LOCKSTEP_FIELDS(PathIsBroken, path, from_name, to_name, more);
};

struct GangNotConnected {
  static constexpr std::string_view kCode = "gang_not_connected";
  Duration within{0};
  Why why;  // the reason, if this node knows it
  LOCKSTEP_FIELDS(GangNotConnected, within, why);
};

struct ProbeDidNotEnd {
  static constexpr std::string_view kCode = "probe_did_not_end";
  Duration within{0};
  LOCKSTEP_FIELDS(ProbeDidNotEnd, within);
};

struct ProbeFailed {  // The probe failed without the name of a path.
  static constexpr std::string_view kCode = "probe_failed";
  LOCKSTEP_FIELDS(ProbeFailed);
};

// The fault in a gang's table, as a node's parent in the tree passed it on.
enum class TableFault { other_attempt, out_of_order, wrong_count, altered, incomplete };
std::string_view to_string(TableFault fault);
constexpr TableFault last_enumerator(TableFault) { return TableFault::incomplete; }

struct GangTableRefused {
  static constexpr std::string_view kCode = "gang_table_refused";
  int parent = 0;  // the parent's node rank
  TableFault fault = TableFault::altered;
  std::string attempt;     // other_attempt: the name of that attempt
  int first = 0, due = 0;  // out_of_order: the row that came, and the row that was due
  int nodes = 0;           // the number of the gang's nodes
  LOCKSTEP_FIELDS(GangTableRefused, parent, fault, attempt, first, due, nodes);
};

struct OrderLacksGang {  // the agent was replaced by an older one
  static constexpr std::string_view kCode = "order_lacks_gang";
  LOCKSTEP_FIELDS(OrderLacksGang);
};

struct LimitsAreRequired {  // The job has lockstep.limits: required.
  static constexpr std::string_view kCode = "limits_are_required";
  Why why;  // the limit that is not enforced
  LOCKSTEP_FIELDS(LimitsAreRequired, why);
};

// ---- of an agent --------------------------------------------------------------------------------
struct StoppedEarly {
  static constexpr std::string_view kCode = "stopped_early";
  bool has_directory = false;  // its working directory was made, but its runner was not started
  LOCKSTEP_FIELDS(StoppedEarly, has_directory);
};

struct RunnerDied {  // The runner died without a final report.
  static constexpr std::string_view kCode = "runner_died";
  bool is_unwatched = false;      // true: it died while no agent was there
  std::string removed_directory;  // the attempt's, if somebody removed it
  std::string said;               // the end of the runner's own log
  LOCKSTEP_FIELDS(RunnerDied, is_unwatched, removed_directory, said);
};

struct RunnerWasKilled {  // The runner did not stop in time.
  static constexpr std::string_view kCode = "runner_was_killed";
  LOCKSTEP_FIELDS(RunnerWasKilled);
};

struct RunnerToldNoEnd {  // The runner finished without a report on how its ranks ended.
  static constexpr std::string_view kCode = "runner_told_no_end";
  LOCKSTEP_FIELDS(RunnerToldNoEnd);
};

struct HoldsMostParts {
  static constexpr std::string_view kCode = "holds_most_parts";
  int parts = 0;
  LOCKSTEP_FIELDS(HoldsMostParts, parts);
};

struct DiskLimitReached {
  static constexpr std::string_view kCode = "disk_limit_reached";
  Bytes used;
  Bytes removed;  // the bytes of these in open files without a name
  Bytes limit;
  LOCKSTEP_FIELDS(DiskLimitReached, used, removed, limit);
};

struct DiskIsFull {  // The part uses most of the disk among all jobs of the node.
  static constexpr std::string_view kCode = "disk_is_full";
  Bytes free, total;
  Bytes used, removed;  // the same fields as in DiskLimitReached
  LOCKSTEP_FIELDS(DiskIsFull, free, total, used, removed);
};

// An environment that could not be made before, and is not tried again unchanged.
struct EnvironmentFailedBefore {
  static constexpr std::string_view kCode = "environment_failed_before";
  std::string environment;  // "environment 0123456789ab (conda, linux-64)"
  Instant at;
  JobId job;
  std::string said;
  LOCKSTEP_FIELDS(EnvironmentFailedBefore, environment, at, job, said);
};

// ---- of a node that takes no new part -----------------------------------------------------------
struct DiskIsLow {
  static constexpr std::string_view kCode = "disk_is_low";
  Bytes low;  // less space than this is free
  std::string folder;
  LOCKSTEP_FIELDS(DiskIsLow, low, folder);
};

struct ProcessesAreScarce {  // The limit of all jobs of the node together is nearly reached.
  static constexpr std::string_view kCode = "processes_are_scarce";
  long long limit = 0;
  std::string cgroup;
  LOCKSTEP_FIELDS(ProcessesAreScarce, limit, cgroup);
};

// ---- of the launcher, about what a node told ----------------------------------------------------
struct NoFinalReport {  // The part ended without a final report.
  static constexpr std::string_view kCode = "no_final_report";
  LOCKSTEP_FIELDS(NoFinalReport);
};

struct IncompleteReport {
  static constexpr std::string_view kCode = "incomplete_report";
  int ranks = 0;  // the number of ranks in the report
  int wanted = 0;
  LOCKSTEP_FIELDS(IncompleteReport, ranks, wanted);
};

struct LockWasNotKept {  // The lock of an environment was not stored.
  static constexpr std::string_view kCode = "lock_was_not_kept";
  std::string said;
  LOCKSTEP_FIELDS(LockWasNotKept, said);
};

using PartReasons =
    List<StoppedByOrder, PeerEndedGang, PortWasTaken, GangHung, RanksDiedWithSpawn, RankServerDied,
         LeaseRanOut, RanTooLong, PathIsBroken, GangNotConnected, ProbeDidNotEnd, ProbeFailed,
         OrderLacksGang, GangTableRefused, LimitsAreRequired, StoppedEarly, RunnerDied,
         RunnerWasKilled, RunnerToldNoEnd, HoldsMostParts, DiskLimitReached, DiskIsFull,
         EnvironmentFailedBefore, DiskIsLow, ProcessesAreScarce, NoFinalReport, IncompleteReport,
         LockWasNotKept>;

}  // namespace lockstep
