#pragma once
// The parts of this node as records: the wanted state, the actual state, and the reports that the
// launcher has not acknowledged yet. Values only; core.cc decides.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"

namespace lockstep::agent {

struct Part {
  enum class Stage {
    found,       // its directory was met at start, it never had a runner
    staging,     // StageWorkspace is at work
    staged,      // all is ready, and it waits for its lease
    equipping,   // PrepareEnvironment is at work
    discarding,  // staging still is, but its result is of no use: report.exit says why
    starting,    // StartRunner is at work
    alive,       // its runner lives
    collecting,  // its runner is gone, CollectOutputs is at work; `exit` waits to be told
    ended,       // report.exit says how; its directory may be there
    removing,    // RemovePart is at work
  };
  enum class Killed { no, overdue, lease_over };
  // Whether the runner has the current `assignment`, as far as an agent can know.
  enum class Told {
    all,      // the runner has all of it
    nothing,  // an UpdateRunner is due, once it lives
    sent,     // UpdateRunner was ordered; at look_again the runner must have followed
  };
  // The launcher's space for what is collected.
  enum class Space {
    enough,
    lacking,  // since no_space_since: it refuses what is left
    settled,  // SettleOutputs was ordered: nobody waits for space any more
  };
  Stage stage = Stage::staging;
  Assignment assignment;  // the newest that was wanted, or as found
  bool wanted = true;     // by the desired state that is applied; a fact beside every stage
  Told told = Told::all;
  PartReport report;
  std::uint64_t environment_log_bytes = 0;  // that its environment log holds
  // ./logs and ./outputs, as they were captured last.
  std::map<OutputKind, CollectedOutput> folders;
  Instant capture_at = Instant::never();      // while it runs
  std::optional<CollectedOutput> checkpoint;  // the same
  Instant checkpoint_at = Instant::never();
  std::optional<Instant> writing_since;     // the checkpoint was never seen at rest since
  std::optional<CollectedOutput> restored;  // what its ranks begin with
  Instant lease_until;                      // when its assignment has one
  Instant lease_written;                    // until when the runner knows
  std::optional<NodeExitReport> exit;       // while collecting: what is told at its end
  Space space = Space::enough;              // the same
  Instant no_space_since;                   // while it is lacking
  std::optional<Instant> canceled_at;       // when its launcher said so
  Instant look_again = Instant::never();    // while `sent`
  Instant kill_at = Instant::never();       // a stop was ordered: the runner is killed then
  Killed killed = Killed::no;               // its runner, by us
  Instant remove_again = Instant::never();
};

// When each heartbeat was sent, until it is acknowledged: a lease counts from there, since the
// launcher heard it later.
class SentBeats {
 public:
  std::uint64_t sent(Instant now);
  // nullopt: it was acknowledged before, or is too old to matter.
  std::optional<Instant> acknowledged(std::uint64_t number);

 private:
  std::uint64_t newest_ = 0;
  std::map<std::uint64_t, Instant> sent_;  // bounded
};

// Reports that the launcher has not acknowledged. Each Observed contains all of them, so that
// acknowledging the newest message covers the earlier ones.
class Unacknowledged {
 public:
  void changed(const AttemptId& attempt);
  void removed(const AttemptId& attempt);
  void acknowledged(std::uint64_t sequence);
  bool empty() const { return entries_.empty(); }
  std::uint64_t sequence() const { return sequence_; }
  // The next Observed, without node and session. A repetition of the very same keeps its sequence.
  Observed next(const std::map<AttemptId, Part>& parts);

 private:
  struct Entry {
    bool gone = false;
    std::uint64_t told_in = 0;  // sequence of the newest Observed that holds it; 0 = none
  };
  std::map<AttemptId, Entry> entries_;
  std::uint64_t sequence_ = 0;
};

// The exit report that the agent writes for a part whose runner left none.
NodeExitReport unreported_exit(Cause cause, std::string message, Instant now,
                               std::vector<LogSize> logs = {});

// Whether the launcher has space for what is collected.
void hear_of_space(Part& part, bool no_space, Instant now);

// UpdateRunner is due.
void must_tell(Part& part);
void have_told(Part& part, Instant look_again);
void need_not_tell(Part& part);

// When to stop waiting for space for the outputs of a canceled job; never while there is space.
Instant settles_at(const Part& part, Duration timeout);

}  // namespace lockstep::agent
