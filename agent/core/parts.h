#pragma once
// Records of this node's parts: the wanted state of each, its actual state, and the changes that
// the launcher has not acknowledged yet. Values only; core.cc decides.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/messages/agent_protocol.h"

namespace lockstep::agent {

struct Part {
  enum class Stage {
    found,      // not staged: the part is new, or its directory was found at start without a runner
    staging,    // StageWorkspace is running
    staged,     // everything is ready; the part waits for its lease
    equipping,  // PrepareEnvironment is running
    discarding,  // staging still runs, but its result is not needed: report.exit says why
    starting,    // StartRunner is running
    alive,       // the runner is alive
    collecting,  // the runner has ended and CollectOutputs runs; `exit` is reported afterwards
    ended,       // report.exit says how; its directory may still exist
    removing,    // RemovePart is running
  };
  enum class Killed { no, overdue, lease_over };
  // Whether the runner knows the newest `assignment`, as far as the agent can tell.
  enum class Told {
    all,      // the runner needs no update
    nothing,  // UpdateRunner must be sent once the runner is alive
    sent,     // UpdateRunner was sent; at look_again the core checks that the runner followed
  };
  // Whether the launcher has space for the outputs; the same holds for other lasting failures.
  enum class Space {
    enough,
    lacking,  // the launcher has refused the remaining outputs since no_space_since
    settled,  // SettleOutputs was sent: the collection no longer waits for space
  };
  Stage stage = Stage::staging;
  Assignment assignment;  // the newest from the launcher, or the one found on disk
  bool wanted = true;     // the applied desired state has this part; independent of `stage`
  Told told = Told::all;
  PartReport report;
  std::uint64_t environment_log_bytes = 0;  // size of its environment log
  // The last captures of ./logs, ./outputs and named outputs.
  std::map<std::pair<OutputKind, std::string>, CollectedOutput> folders;
  Instant capture_at = Instant::never();      // next capture of the folders while the part runs
  std::optional<CollectedOutput> checkpoint;  // the last capture of the checkpoint
  Instant checkpoint_at = Instant::never();
  std::optional<Instant> writing_since;  // since when every look found the checkpoint being written
  std::optional<CollectedOutput> restored;  // the checkpoint that its ranks begin with
  Instant lease_until;                      // set if its assignment has a lease
  Instant lease_written;                    // the lease's end as the runner knows it
  std::optional<NodeExitReport> exit;       // while collecting: the report that is sent afterwards
  Space space = Space::enough;              // while collecting: whether the launcher has space
  Instant no_space_since;                   // since when `space` is lacking
  std::optional<Instant> canceled_at;       // when the launcher's cancel order arrived
  Instant look_again = Instant::never();    // while `told` is sent: when to look again
  Instant kill_at = Instant::never();       // a stop was ordered: kill the runner then
  Killed killed = Killed::no;               // why this agent killed the runner
  Instant remove_again = Instant::never();
};

// The send time of each unacknowledged heartbeat. A lease counts from that time, because the
// launcher received the heartbeat later and waits longer.
class SentBeats {
 public:
  std::uint64_t sent(Instant now);
  // The send time of a heartbeat. nullopt: this or a later heartbeat was acknowledged before, or it
  // is too old.
  std::optional<Instant> acknowledged(std::uint64_t number);

 private:
  std::uint64_t newest_ = 0;
  std::map<std::uint64_t, Instant> sent_;  // bounded
};

// The changes that the launcher has not acknowledged. Each Observed holds all of them, so that an
// acknowledgement of the newest message covers every earlier one.
class Unacknowledged {
 public:
  void changed(const AttemptId& attempt);
  void removed(const AttemptId& attempt);
  void acknowledged(std::uint64_t sequence);
  bool empty() const { return entries_.empty(); }
  std::uint64_t sequence() const { return sequence_; }
  // The next Observed, without node and session. Without new changes, it keeps the last sequence.
  Observed next(const std::map<AttemptId, Part>& parts);

 private:
  struct Entry {
    bool gone = false;
    std::uint64_t told_in = 0;  // sequence of the newest Observed that has it; 0 = none
  };
  std::map<AttemptId, Entry> entries_;
  std::uint64_t sequence_ = 0;
};

// The exit report of a part whose runner reported none.
NodeExitReport unreported_exit(Cause cause, Why why, Instant now, std::vector<LogSize> logs = {},
                               Bytes log_times = {});

// Records whether the launcher has space for the part's outputs.
void hear_of_space(Part& part, bool no_space, Instant now);

// Set `told`: UpdateRunner must be sent; it was just sent; the runner needs no update.
void must_tell(Part& part);
void have_told(Part& part, Instant look_again);
void need_not_tell(Part& part);

// When a canceled job's part stops waiting for space for its outputs; never() while the launcher
// has space.
Instant settles_at(const Part& part, Duration timeout);

}  // namespace lockstep::agent
