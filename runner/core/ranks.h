#pragma once
// Records of the ranks of one node: whether each waits, lives or has ended, and how. It turns the
// results of waitpid and the bootstrap's events into a RankExit. core.cc decides about the gang.

#include <optional>
#include <string>
#include <vector>

#include "runner/core/input.h"

namespace lockstep::runner {

struct RankRecord {
  enum class State {
    waiting,   // StartRank was not sent yet
    starting,  // StartRank was sent; no answer yet
    live,
    settling,  // exited 0, but looks wrong: the core decides at settle_at
    ended,     // `exit` is final
  };
  enum class Client { none, connected, finalized };  // the rank's state as a PMIx client

  State state = State::waiting;
  Client client = Client::none;
  std::optional<RankAborted> abort;
  Instant settle_at;
  RankExit exit;

  bool active() const { return state == State::starting || state == State::live; }
};

class RankTable {
 public:
  RankTable() = default;
  RankTable(int first_rank, int count);

  RankRecord* find(int rank);  // null: not a rank of this node
  std::vector<RankRecord>& all() { return records_; }
  const std::vector<RankRecord>& all() const { return records_; }

  bool all_ended() const;
  bool all_started() const;  // whether each rank was started, even if it has ended since
  bool any_active() const;
  bool any_started() const;
  bool any_live() const;
  bool any_connected() const;            // a rank here has connected to the PMIx server
  bool other_connected(int rank) const;  // a rank here other than `rank` has connected to it
  // True if a rank here may still need the PMIx server.
  bool any_needs_server() const;
  Instant next_settle() const;

 private:
  int first_rank_ = 0;
  std::vector<RankRecord> records_;
};

// The exit of a rank by the result of waitpid. Its MPI_Abort takes precedence over the signal that
// it causes.
RankExit describe_exit(const RankRecord& record, const RankExited& exited, Instant now,
                       bool terminating);
// The probable sender of a SIGKILL that ended a rank without the runner.
Why who_killed(const RankExited& exited);
// The end by MPI_Abort(code) of a rank. A code whose low byte is 0 still fails: exit code 1.
RankExit describe_abort(const RankExit& base, const RankAborted& abort, Instant now,
                        bool terminating);
// The exit of a Ray worker that was ended because the head had completed.
RankExit dismissed_exit(const RankExit& base);
// The exit of a rank that never ran, because the gang ended first.
RankExit never_started(const RankExit& base, Instant now);
// Why MPI_Init failed in a rank that never connected to its runner, judged by the end of its
// stderr; none if that does not mention MPI_Init.
Why why_not_joined(const std::string& stderr_tail);
// The exit as the reason of a node's or a gang's end.
Why rank_ended(const RankExit& exit);
// The finding for which a gang is ended, as the reason.
Why gang_hung(const Found& found);

}  // namespace lockstep::runner
