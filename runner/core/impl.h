#pragma once
// The inside of runner::Core, shared by its two files: core.cc gets the ranks started and follows
// them; ending.cc decides what ends them, and sees them off. Seen by nobody else.

#include <csignal>

#include "runner/core/ranks.h"

namespace lockstep::runner {

enum class Phase { fresh, leasing, prepared, connecting, running, draining, quoting, done };

struct Failure {  // the first one here
  Cause cause = Cause::start_failed;
  std::optional<int> rank;
  std::string message;
};

struct Termination {
  Instant insist_at;  // then SIGKILL, and again
  int signal = SIGTERM;
};

struct Core::Impl {
  Assignment assignment;
  GangMember self;
  std::optional<GangTable> gang;
  Endpoint endpoint;
  Phase phase = Phase::fresh;
  PartState shown = PartState::staging;
  RankTable ranks;
  std::optional<Failure> failure;
  std::optional<std::string> stopped;  // by order, in words; no failure of ours came first
  std::optional<Termination> terminating;
  Instant started;                        // of the first rank; 0 = none
  Instant insist_at = Instant::never();   // draining, quoting
  Instant connect_by = Instant::never();  // connecting
  std::vector<int> unquoted;              // ranks whose stderr tail is awaited
  Instant news_until;                     // the first failure may still prove an MPI_Abort
  std::vector<LogSize> logs;
  std::optional<NodeExitReport> final_report;
  Instant lease_until;  // when the assignment has a lease

  bool peers_connected = false;  // ranks of another node, done by now, had met their PMIx server
  std::optional<int>
      unconnected;  // first rank of the first node that is done and never met its own

  Instant now;
  std::vector<Action> out;

  void on(const Begin& input);
  void on(const Endpoint& input);
  void on(const AssignmentChanged& input);
  void on(const GangConnected&);
  void on(const PeerLost&) {}  // what a vanished peer means, the launcher says
  void on(const AbortFromPeer& input);
  void on(const PeerDrained& input);
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
  void on(const SetupFailed& input);
  void on(const LeaseRenewed& input) { lease_until = input.until; }
  void on(const Tick&) {}

  void proceed();
  void start_ranks();
  void show(PartState state);
  PartReport report() const;

  bool over() const { return phase >= Phase::draining; }
  bool is_mpi() const { return assignment.spec.distribution.kind == Distribution::Kind::mpi; }
  Instant timeout_at() const;
  Instant lease_ends_at() const;
  void end_lease();
  void stop();
  void fail(Failure first, RankExit exit, Duration grace);
  void fail_without_rank(Cause cause, std::string message);
  void fail_rank(RankRecord& record);
  void terminate(Duration grace);
  void tell_gang(const RankExit& first, const std::string& message);
  void ended_well(RankRecord& record);
  void judge(RankRecord& record);
  void suspect_the_unconnected();
  void fail_for_unconnected();
  void expire_timers();
  void finish_if_ended();
  void quote();
  void explain_init(RankRecord& record);
  void finish_if_quoted();
  void finish();
  NodeExitReport final_words() const;
};

}  // namespace lockstep::runner
