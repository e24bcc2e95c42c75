#pragma once
// How attempts and jobs end, and why another attempt follows. A Why in a reason is the cause of it,
// of whatever group.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/job/job_status.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/jobs/named_found.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- an attempt ended ---------------------------------------------------------------------------

struct AllRanksCompleted {  // All ranks exited with 0.
  static constexpr std::string_view kCode = "completed";
  LOCKSTEP_FIELDS(AllRanksCompleted);
};

struct RankFailed {
  static constexpr std::string_view kCode = "rank_failed";
  int rank = 0;
  std::string node = {};
  Cause cause = Cause::exit_code;
  int exit_code = 0;  // the rank's own code
  int signal = 0;     // 0: it exited
  Why why = {};       // the reason that its runner gives
  LOCKSTEP_FIELDS(RankFailed, rank, node, cause, exit_code, signal, why);
};

struct FailedBefore {
  std::string node;
  Why why = {};
  LOCKSTEP_FIELDS(FailedBefore, node, why);
};

// A node as a whole, and not one of its ranks.
struct NodeFailed {
  static constexpr std::string_view kCode = "node_failed";
  std::string node;
  Cause cause = Cause::start_failed;
  Why why = {};
  std::optional<Duration> timeout = {};   // the job's time limit, with Cause::timeout
  std::string run_as = {};                // the job's account, with Cause::account_missing
  std::vector<FailedBefore> before = {};  // other nodes that had failed to solve its environment
  int more_before = 0;                    // the number of nodes left out of `before`
  LOCKSTEP_FIELDS(NodeFailed, node, cause, why, timeout, run_as, before, more_before);
};

struct RanksHang {  // The ranks hang, and lockstep.on_hang ends the attempt.
  static constexpr std::string_view kCode = "ranks_hang";
  std::optional<NamedFound> found;  // the finding for which they were ended; absent: unknown
  LOCKSTEP_FIELDS(RanksHang, found);
};

// The clocks of the nodes do not show which failure came first.
struct FirstOfSeveral {
  static constexpr std::string_view kCode = "first_of_several";
  Why first;
  Why other = {};     // the earliest of the others
  int more = 0;       // the number of further failures
  Duration apart{0};  // the time between the first and the latest of them
  Duration known{0};  // how well their clocks are known to each other
  LOCKSTEP_FIELDS(FirstOfSeveral, first, other, more, apart, known);
};

struct NodeEndedRanks {  // The node ended its ranks because another node failed.
  static constexpr std::string_view kCode = "node_ended_ranks";
  std::string node;
  Why why = {};  // the reason in the words of the runner that told it to
  LOCKSTEP_FIELDS(NodeEndedRanks, node, why);
};

// The node stopped its ranks before the launcher knows why: the report on another node's failure
// may still be on its way.
struct StoppedUnasked {
  static constexpr std::string_view kCode = "stopped_unasked";
  std::string node;
  LOCKSTEP_FIELDS(StoppedUnasked, node);
};

struct NotPrepared {  // The node did not prepare its part in time.
  static constexpr std::string_view kCode = "not_prepared";
  std::string node;
  Duration limit{0};
  std::string said = {};  // the last progress that it reported
  LOCKSTEP_FIELDS(NotPrepared, node, limit, said);
};

struct NodePreempted {
  static constexpr std::string_view kCode = "preempted";
  std::string node;
  Why why = {};  // why its machine is taken away
  LOCKSTEP_FIELDS(NodePreempted, node, why);
};

// ---- a job ended without an attempt -------------------------------------------------------------

struct DependencyFailed {
  static constexpr std::string_view kCode = "dependency_failed";
  JobId job;  // the job after which it was to run
  JobStatus status = JobStatus::failed;
  LOCKSTEP_FIELDS(DependencyFailed, job, status);
};

// ---- what else there is to say of its end -------------------------------------------------------

// How the job ended: the end of its last attempt, why no other attempt follows, and what was lost.
struct EndedWith {
  static constexpr std::string_view kCode = "ended_with";
  Why end;
  std::vector<Why> more = {};  // at least one further reason
  LOCKSTEP_FIELDS(EndedWith, end, more);
};

struct NoNodeHasAccount {
  static constexpr std::string_view kCode = "no_node_has_account";
  std::string target;
  LOCKSTEP_FIELDS(NoNodeHasAccount, target);
};

struct NorOnNodes {  // Earlier attempts failed on these nodes, too.
  static constexpr std::string_view kCode = "nor_on_nodes";
  std::vector<std::string> nodes;
  int more = 0;
  LOCKSTEP_FIELDS(NorOnNodes, nodes, more);
};

struct GivenUpAfter {
  static constexpr std::string_view kCode = "given_up_after";
  int attempts = 0;
  LOCKSTEP_FIELDS(GivenUpAfter, attempts);
};

struct InputIsGone {  // The input that the owner wrote to rank 0 is lost (lockstep.terminal).
  static constexpr std::string_view kCode = "input_is_gone";
  LOCKSTEP_FIELDS(InputIsGone);
};

struct MachinesEndTooEarly {
  static constexpr std::string_view kCode = "machines_end_too_early";
  Duration lifetime{0};                  // the lifetime of each machine
  int ends = 0;                          // the machines that ended in a row
  std::optional<Duration> timeout = {};  // the job's time limit
  Duration ran{0};                       // how long the last attempt ran
  LOCKSTEP_FIELDS(MachinesEndTooEarly, lifetime, ends, timeout, ran);
};

struct LogsWithoutSpace {
  static constexpr std::string_view kCode = "logs_without_space";
  Bytes bytes;
  std::string node = {};  // the first such node
  int more_nodes = 0;
  LOCKSTEP_FIELDS(LogsWithoutSpace, bytes, node, more_nodes);
};

struct LogsCameLate {
  static constexpr std::string_view kCode = "logs_came_late";
  std::string node;  // the first such node
  int more_nodes = 0;
  LOCKSTEP_FIELDS(LogsCameLate, node, more_nodes);
};

// ---- another attempt follows --------------------------------------------------------------------

struct RetriedAfter {
  static constexpr std::string_view kCode = "retried";
  Why end;        // the end of the attempt before
  Why then = {};  // why another one follows
  LOCKSTEP_FIELDS(RetriedAfter, end, then);
};

struct ChargedRetry {
  static constexpr std::string_view kCode = "charged_retry";
  int number = 0;  // 1, 2, …
  int most = 0;
  LOCKSTEP_FIELDS(ChargedRetry, number, most);
};

enum class Uncharged { node_revoked, port_taken, other_node, machine_ended, low_priority };
std::string_view to_string(Uncharged why);
constexpr Uncharged last_enumerator(Uncharged) { return Uncharged::low_priority; }

struct UnchargedRetry {
  static constexpr std::string_view kCode = "uncharged_retry";
  Uncharged because = Uncharged::node_revoked;
  LOCKSTEP_FIELDS(UnchargedRetry, because);
};

struct WasRetried {  // The job was retried, and the reason is not told.
  static constexpr std::string_view kCode = "was_retried";
  LOCKSTEP_FIELDS(WasRetried);
};

using EndReasons =
    List<AllRanksCompleted, RankFailed, NodeFailed, RanksHang, FirstOfSeveral, NodeEndedRanks,
         StoppedUnasked, NotPrepared, NodePreempted, DependencyFailed, EndedWith, NoNodeHasAccount,
         NorOnNodes, GivenUpAfter, InputIsGone, MachinesEndTooEarly, LogsWithoutSpace, LogsCameLate,
         RetriedAfter, ChargedRetry, UnchargedRetry, WasRetried>;

}  // namespace lockstep
