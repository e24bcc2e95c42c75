#pragma once
// The implementation of agent::Core, private to its files: core.cc handles the session and the
// desired state, part_events.cc each part's life, lease.cc how long a part may run.

#include <algorithm>

#include "agent/core/core.h"
#include "agent/core/parts.h"

namespace lockstep::agent {

enum class Link {
  none,     // not connected, or the connection was dropped; Connected opens a session
  opening,  // SessionOpen was sent; it is repeated until the launcher answers
  open,     // the launcher accepted the session
  refused,  // the launcher refused it; permanent
};

inline constexpr Duration kInsistEvery = seconds(5);  // between repeats of KillRunner, RemovePart
inline constexpr Duration kTellEvery =
    seconds(1);  // between repeats of UpdateRunner while the runner lags behind

// The notice that the machine will be taken away.
struct Taken {
  Instant until;
  std::string reason;
  bool leave = false;           // end the agent when nothing is left to do
  std::uint64_t told_in = 0;    // the first heartbeat that had it; 0: none yet
  bool launcher_knows = false;  // the launcher answered that heartbeat or a later one
  Instant since = {};
};

template <typename T>
concept AboutSession = requires(const T& message) {
  message.session;
};

struct Core::Impl {
  explicit Impl(Config c) : config(std::move(c)), heartbeat(config.heartbeat_interval) {}

  Config config;
  Duration heartbeat;
  Link link = Link::none;
  std::optional<std::uint64_t> revision;  // newest applied; without one, nothing is staged/removed
  Instant pruned;                         // newest prune order that was carried out
  std::uint64_t answers = 0;              // the question of the newest SessionLost
  std::optional<std::string> removed;     // the node was removed, why; exit once all parts are gone
  std::optional<Taken> taken;
  Instant last_word;
  Duration reconnect_within{0};  // the time that the launcher gave; see SessionAccepted
  bool begins_session = false;   // true while the answer to our session is applied
  int unanswered = 0;  // the number of connections in a row without a message of the launcher
  int openings = 0;    // sent since the launcher's last answer
  // When to send a heartbeat (open) or a SessionOpen (opening) next.
  Instant next_beat = Instant::never();
  Instant observe_at = Instant::never();
  std::map<AttemptId, Part> parts;
  Unacknowledged unacked;
  SentBeats beats;

  Instant now;
  std::vector<Action> out;

  void on(const Recovered& input);
  void on(const Connected&) { open_session(); }
  void on(const FromLauncher& input);
  void on(const WorkspaceStaged& input);
  void on(const StagingProgress& input);
  void on(const EnvironmentProgress& input);
  void on(const EnvironmentChanged& input);
  void on(const EnvironmentFailed& input);
  void on(const RunnerStarted& input);
  void on(const RunnerReported& input);
  void on(const RunnerGone& input);
  void on(const OutputsProgress& input);
  void on(const OutputsCollected& input);
  void on(const FolderCaptured& input);
  void on(const CheckpointCaptured& input);
  void on(const PartRemoved& input);
  void on(const MachineTaken& input);
  // Tells the launcher of a changed inventory; without a connection, the next session tells it.
  void on(const InventoryChanged&) {
    if (link != Link::none) open_session();
  }
  void on(const Tick&) {}

  void hear(const SessionAccepted& message);
  void hear(const SessionRefused& message);
  void hear(const SessionLost& message);
  void hear(const HeartbeatAck& message);
  void hear(const ObservedAck& message) { unacked.acknowledged(message.sequence); }
  void hear(const Desired& message) { apply(message.desired); }
  template <typename T>
  void hear(const T&) {}  // the core ignores other messages

  Part* find(const AttemptId& attempt);
  void open_session();
  Duration silence_limit() const;
  void leave_when_empty();
  std::optional<PreemptionNotice> notice() const;
  void hear_of_notice(const HeartbeatAck& message);
  Instant leave_at() const;
  void leave_if_taken();
  void apply(const DesiredState& desired);
  void want(const Assignment& assignment);
  void recover(const FoundPart& found);
  void converge(Part& part);
  void converge_alive(Part& part);
  void attach(Part& part);
  void staged(Part& part);
  void start(Part& part);
  bool has_lease(const Part& part) const;
  void renew(Part& part, Instant heard_after);
  void end_lease(Part& part);
  void capture(Part& part);
  void remove(Part& part);
  void collect(Part& part, NodeExitReport exit);
  void end(Part& part, NodeExitReport exit);
  void changed(const Part& part, Instant tell_at);
  void run_part_timers();
  void run_link_timers();
  void send_observed();
};

}  // namespace lockstep::agent
