#pragma once
// The ranks of one node as records: who waits, lives, or ended, and how. It turns what waitpid and
// the bootstrap say of a rank into a RankExit. It decides nothing about the gang: that is core.cc.

#include <optional>
#include <string>
#include <vector>

#include "runner/core/core.h"

namespace lockstep::runner {

struct RankRecord {
  enum class State {
    waiting,   // StartRank was not asked for yet
    starting,  // asked for, no answer yet
    live,
    settling,  // exited 0 in a way that looks wrong: judged at settle_at
    ended,     // `exit` is final
  };
  enum class Client { none, connected, finalized };  // of the PMIx server

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
  bool all_started() const;  // each was started, whatever became of it
  bool any_active() const;
  bool any_started() const;
  bool any_live() const;
  bool any_connected() const;            // some rank here has met the server
  bool other_connected(int rank) const;  // some rank here but this one has met the server
  Instant next_settle() const;

 private:
  int first_rank_ = 0;
  std::vector<RankRecord> records_;
};

// The rank's exit from its wait status; an MPI_Abort takes precedence over the signal that it
// causes.
RankExit describe_exit(const RankRecord& record, const RankExited& exited, Instant now,
                       bool terminating);
// MPI_Abort(code) of a rank. A code whose low byte is 0 still fails: exit code 1.
RankExit describe_abort(const RankExit& base, const RankAborted& abort, Instant now,
                        bool terminating);
// A rank that never ran, because the gang ended first.
RankExit never_started(const RankExit& base, Instant now);
// Why the MPI_Init of a rank that never met its PMIx server failed, judged by its last words; ""
// when they say nothing of MPI_Init.
std::string why_not_joined(const std::string& stderr_tail);
// "rank 3 exited with code 1", "rank 0 called MPI_Abort(42)"
std::string sentence(const RankExit& exit);

}  // namespace lockstep::runner
