#pragma once
// The implementation of runner::Core, private to its files: core.cc starts and follows the ranks;
// network.cc decides whether the gang's nodes reach each other; ending.cc decides what ends the
// ranks, and handles the time until the final report.

#include <csignal>
#include <map>
#include <set>

#include "runner/core/core.h"
#include "runner/core/ranks.h"

namespace lockstep::runner {

enum class Phase {
  fresh,
  leasing,
  prepared,
  connecting,
  probing,
  running,
  draining,
  quoting,
  done
};

struct Failure {  // the first failure on this node
  Cause cause = Cause::start_failed;
  std::optional<int> rank;
  Why why;
};

struct Termination {
  Instant insist_at;  // the time of the next SIGKILL
  int signal = SIGTERM;
};

struct Core::Impl {
  Assignment assignment;
  GangMember self;
  SharedGang gang;
  SharedGang launchers_gang;  // the table from before the probe, if the probe chose addresses
  Endpoint endpoint;
  Phase phase = Phase::fresh;
  PartState shown = PartState::staging;
  RankTable ranks;
  std::optional<Failure> failure;
  Why stopped;  // the stop order, or the peer that ended the gang; none after a failure of ours
  std::optional<PeerAbort> aborted_by;
  std::optional<Found> hang;           // the hang, if it is the failure
  std::map<int, RankExit> peers_ends;  // by node rank: the first failure of other nodes
  std::set<int> peers_left;            // node ranks whose ranks all exited with 0
  std::optional<Termination> terminating;
  bool warned = false;     // the job's early signal was sent
  bool dismissed = false;  // Ray's head has completed, and its workers here end with it
  Instant started;         // start of the first rank; 0 = none
  Instant insist_at = Instant::never();  // set while draining or quoting
  Instant connecting_since;
  // set while connecting or probing; then the start has failed
  Instant ready_by = Instant::never();
  std::optional<PathFailure> unreachable_parent;  // set while connecting
  std::optional<ProbeResult> probe;
  bool probe_failed_here = false;
  std::vector<int> unquoted;  // ranks whose stderr tail is still missing
  Instant news_until;         // until then, the first failure may become an MPI_Abort
  std::vector<LogSize> logs;
  std::optional<NodeExitReport> final_report;
  Instant lease_until;  // set if the assignment has a lease

  bool peers_connected = false;  // ranks of another node that is done had connected to PMIx
  std::optional<int>
      unconnected;  // first rank of the first node that is done and whose ranks never connected

  Instant now;
  std::vector<Action> out;

  void on(const Begin& input);
  void on(const Endpoint& input);
  void on(const AssignmentChanged& input);
  void on(const GangConnected& input);
  void on(const ParentChecked& input);
  void on(const ProbeDone& input);
  void on(const PeerLost&) {}  // the launcher decides whether a silent peer is lost
  void on(const AbortFromPeer& input);
  void on(const PeerDone& input);
  void on(const RankStarted& input);
  void on(const RankStartFailed& input);
  void on(const RankConnected& input);
  void on(const RankFinalized& input);
  void on(const RankAborted& input);
  void on(const RankExited& input);
  void on(const StderrTail& input);
  void on(const LogsDrained& input);
  void on(const MasterPortTaken&);
  void on(const SpawnLost& input);
  void on(const BootstrapLost& input);
  void on(const SetupFailed& input);
  void on(const GangHangs& input);
  void on(const LeaseRenewed& input) { lease_until = input.until; }
  void on(const Tick&) {}

  void proceed();
  GangTable table_of_one() const;
  void start_ranks();
  void use_chosen_addresses();
  bool is_getting_ready() const { return phase == Phase::connecting || phase == Phase::probing; }
  Why why_not_ready() const;
  std::string name_of(int node) const;
  PathIsBroken broken(const PathFailure& failure) const;
  void show(PartState state);
  std::optional<ProbeResult> shown_probe() const;
  PartReport report() const;

  bool over() const { return phase >= Phase::draining; }
  bool is_ray() const { return assignment.spec.distribution.kind == Distribution::Kind::ray; }
  bool is_mpi() const { return assignment.spec.distribution.kind == Distribution::Kind::mpi; }
  Instant timeout_at() const;
  Instant warning_at() const;
  Instant lease_ends_at() const;
  void end_lease();
  void stop();
  void dismiss();
  void fail(Failure first, RankExit exit);
  void fail_without_rank(Cause cause, Why why);
  void fail_rank(RankRecord& record);
  void terminate(Duration grace);
  void tell_gang(const RankExit& first, const Why& why);
  void ended_well(RankRecord& record);
  void judge(RankRecord& record);
  void suspect_the_unconnected();
  void fail_for_unconnected();
  void expire_timers();
  void finish_if_ended();
  void quote();
  void explain_init(RankRecord& record);
  void explain_peer(RankRecord& record);
  std::optional<RankEnd> first_end_here(int other_than) const;
  void finish_if_quoted();
  void finish();
  NodeExitReport final_words() const;
};

}  // namespace lockstep::runner
