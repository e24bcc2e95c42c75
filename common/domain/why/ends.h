#pragma once
// How attempts and jobs end, and why another attempt follows. A Why in a reason is the cause of it,
// of whatever group.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_status.h"
#include "common/domain/why/list.h"
#include "common/domain/why/named_found.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- an attempt ended ---------------------------------------------------------------------------

struct AllRanksCompleted {  // each exited with 0
  static constexpr std::string_view kCode = "completed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const AllRanksCompleted&, const AllRanksCompleted&) = default;
};

struct RankFailed {
  static constexpr std::string_view kCode = "rank_failed";
  int rank = 0;
  std::string node = {};
  Cause cause = Cause::exit_code;
  int exit_code = 0;  // of the rank itself
  int signal = 0;     // 0: it exited
  Why why = {};       // as its runner says
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("node", self.node);
    see("cause", self.cause);
    see("exit_code", self.exit_code);
    see("signal", self.signal);
    see("why", self.why);
  }
  friend bool operator==(const RankFailed&, const RankFailed&) = default;
};

struct FailedBefore {
  std::string node;
  Why why = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const FailedBefore&, const FailedBefore&) = default;
};

// A node as a whole, and not one of its ranks.
struct NodeFailed {
  static constexpr std::string_view kCode = "node_failed";
  std::string node;
  Cause cause = Cause::start_failed;
  Why why = {};
  std::optional<Duration> timeout = {};   // of the job, with Cause::timeout
  std::string run_as = {};                // the job's account, with Cause::account_missing
  std::vector<FailedBefore> before = {};  // other nodes that had failed to solve its environment
  int more_before = 0;                    // left out of `before`
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("cause", self.cause);
    see("why", self.why);
    see("timeout", self.timeout);
    see("run_as", self.run_as);
    see("before", self.before);
    see("more_before", self.more_before);
  }
  friend bool operator==(const NodeFailed&, const NodeFailed&) = default;
};

struct RanksHang {  // and lockstep.on_hang ends the job
  static constexpr std::string_view kCode = "ranks_hang";
  std::optional<NamedFound> found;  // what they were ended for; absent: unknown
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("found", self.found);
  }
  friend bool operator==(const RanksHang&, const RanksHang&) = default;
};

// The clocks of the nodes do not say which failure came first.
struct FirstOfSeveral {
  static constexpr std::string_view kCode = "first_of_several";
  Why first;
  Why other = {};     // the earliest of the others
  int more = 0;       // others
  Duration apart{0};  // the latest of them after the first
  Duration known{0};  // how well their clocks are known to each other
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("first", self.first);
    see("other", self.other);
    see("more", self.more);
    see("apart", self.apart);
    see("known", self.known);
  }
  friend bool operator==(const FirstOfSeveral&, const FirstOfSeveral&) = default;
};

struct NodeEndedRanks {  // for the failure of another node
  static constexpr std::string_view kCode = "node_ended_ranks";
  std::string node;
  Why why = {};  // as the runner says that told it to
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const NodeEndedRanks&, const NodeEndedRanks&) = default;
};

// The node stopped its ranks before the launcher knows why: the report on another node's failure
// may still be on its way.
struct StoppedUnasked {
  static constexpr std::string_view kCode = "stopped_unasked";
  std::string node;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
  }
  friend bool operator==(const StoppedUnasked&, const StoppedUnasked&) = default;
};

struct NotPrepared {  // in time
  static constexpr std::string_view kCode = "not_prepared";
  std::string node;
  Duration limit{0};
  std::string said = {};  // its last progress
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("limit", self.limit);
    see("said", self.said);
  }
  friend bool operator==(const NotPrepared&, const NotPrepared&) = default;
};

struct NodePreempted {
  static constexpr std::string_view kCode = "preempted";
  std::string node;
  Why why = {};  // its machine is taken away
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const NodePreempted&, const NodePreempted&) = default;
};

// ---- a job ended without an attempt -------------------------------------------------------------

struct DependencyFailed {
  static constexpr std::string_view kCode = "dependency_failed";
  JobId job;  // that it was to run after
  JobStatus status = JobStatus::failed;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("status", self.status);
  }
  friend bool operator==(const DependencyFailed&, const DependencyFailed&) = default;
};

// ---- what else there is to say of its end -------------------------------------------------------

// The job's end: how its last attempt ended, why there is no other one, and what was lost.
struct EndedWith {
  static constexpr std::string_view kCode = "ended_with";
  Why end;
  std::vector<Why> more = {};  // at least one
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("end", self.end);
    see("more", self.more);
  }
  friend bool operator==(const EndedWith&, const EndedWith&) = default;
};

struct NoNodeHasAccount {
  static constexpr std::string_view kCode = "no_node_has_account";
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
  }
  friend bool operator==(const NoNodeHasAccount&, const NoNodeHasAccount&) = default;
};

struct NorOnNodes {  // that earlier attempts had tried
  static constexpr std::string_view kCode = "nor_on_nodes";
  std::vector<std::string> nodes;
  int more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
    see("more", self.more);
  }
  friend bool operator==(const NorOnNodes&, const NorOnNodes&) = default;
};

struct GivenUpAfter {
  static constexpr std::string_view kCode = "given_up_after";
  int attempts = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempts", self.attempts);
  }
  friend bool operator==(const GivenUpAfter&, const GivenUpAfter&) = default;
};

struct InputIsGone {  // what its owner wrote to rank 0 (lockstep.terminal)
  static constexpr std::string_view kCode = "input_is_gone";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const InputIsGone&, const InputIsGone&) = default;
};

struct MachinesEndTooEarly {
  static constexpr std::string_view kCode = "machines_end_too_early";
  Duration lifetime{0};                  // of each
  int ends = 0;                          // in a row
  std::optional<Duration> timeout = {};  // of the job
  Duration ran{0};                       // of the last one, so long
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("lifetime", self.lifetime);
    see("ends", self.ends);
    see("timeout", self.timeout);
    see("ran", self.ran);
  }
  friend bool operator==(const MachinesEndTooEarly&, const MachinesEndTooEarly&) = default;
};

struct LogsWithoutSpace {
  static constexpr std::string_view kCode = "logs_without_space";
  Bytes bytes;
  std::string node = {};  // the first
  int more_nodes = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("bytes", self.bytes);
    see("node", self.node);
    see("more_nodes", self.more_nodes);
  }
  friend bool operator==(const LogsWithoutSpace&, const LogsWithoutSpace&) = default;
};

struct LogsCameLate {
  static constexpr std::string_view kCode = "logs_came_late";
  std::string node;  // the first
  int more_nodes = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("more_nodes", self.more_nodes);
  }
  friend bool operator==(const LogsCameLate&, const LogsCameLate&) = default;
};

// ---- another attempt follows --------------------------------------------------------------------

struct RetriedAfter {
  static constexpr std::string_view kCode = "retried";
  Why end;        // of the attempt before
  Why then = {};  // why another one follows
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("end", self.end);
    see("then", self.then);
  }
  friend bool operator==(const RetriedAfter&, const RetriedAfter&) = default;
};

struct ChargedRetry {
  static constexpr std::string_view kCode = "charged_retry";
  int number = 0;  // 1, 2, …
  int most = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("number", self.number);
    see("most", self.most);
  }
  friend bool operator==(const ChargedRetry&, const ChargedRetry&) = default;
};

enum class Uncharged { node_revoked, port_taken, other_node, machine_ended, low_priority };
std::string_view to_string(Uncharged why);
constexpr Uncharged last_enumerator(Uncharged) { return Uncharged::low_priority; }

struct UnchargedRetry {
  static constexpr std::string_view kCode = "uncharged_retry";
  Uncharged because = Uncharged::node_revoked;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("because", self.because);
  }
  friend bool operator==(const UnchargedRetry&, const UnchargedRetry&) = default;
};

struct WasRetried {  // and why is not said
  static constexpr std::string_view kCode = "was_retried";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const WasRetried&, const WasRetried&) = default;
};

using EndReasons =
    List<AllRanksCompleted, RankFailed, NodeFailed, RanksHang, FirstOfSeveral, NodeEndedRanks,
         StoppedUnasked, NotPrepared, NodePreempted, DependencyFailed, EndedWith, NoNodeHasAccount,
         NorOnNodes, GivenUpAfter, InputIsGone, MachinesEndTooEarly, LogsWithoutSpace, LogsCameLate,
         RetriedAfter, ChargedRetry, UnchargedRetry, WasRetried>;

}  // namespace lockstep
