#pragma once
// The agent as a function: it decides what runs on this node. It compares the launcher's desired
// state with the parts that are really here, and answers with actions; it never reads a clock or
// touches a file. It has no journal: the attempt directories and the runners are its memory, and
// `Recovered` its replay.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/agent_messages.h"

namespace lockstep::agent {

// ---- inputs ------------------------------------------------------------------------------------
struct FoundPart {  // an attempt directory met at start
  Assignment assignment;
  enum class Runner { never_started, alive, finished, gone } runner = Runner::never_started;
  std::optional<NodeExitReport> exit;            // when finished
  std::vector<LogSize> logs = {};                // when gone: what its log files hold
  std::string last_words = {};                   // when gone: the end of its own log
  std::optional<CollectedOutput> restored = {};  // what its ranks begin with
  Instant lease_until = {};                      // when its assignment has a lease: as on disk
  Instant started = {};                          // its first rank; ns = 0: not known
  std::uint64_t environment_log_bytes = 0;
};
struct Recovered {
  std::vector<FoundPart> parts;
};                    // first input, once
struct Connected {};  // (re)opened the transport: open a session
struct FromLauncher {
  AgentReply message;
};  // SessionAccepted/Refused/Lost, Desired, acks
struct WorkspaceStaged {
  AttemptId attempt;
  Status result;
  std::optional<CollectedOutput> restored = {};
  Cause cause = Cause::workspace_failed;  // of a failure
};
struct StagingProgress {
  AttemptId attempt;
  std::string text;
};
struct EnvironmentProgress {
  AttemptId attempt;
  std::string text;
};
struct EnvironmentChanged {  // its progress; `log_bytes`: its log's size then
  AttemptId attempt;
  EnvironmentReport report;
  std::uint64_t log_bytes = 0;
};
struct EnvironmentFailed {
  AttemptId attempt;
  Error error;
  Cause cause = Cause::environment_failed;  // or one of infrastructure: it may pass
  std::uint64_t log_bytes = 0;
};
struct RunnerStarted {
  AttemptId attempt;
  Status result;
};
struct RunnerReported {
  AttemptId attempt;
  PartReport report;
};  // from its socket or final report
// The process is gone and left no final report; `logs` is what its log files hold, so that the
// launcher waits for them; `last_words` is the end of its own log.
struct RunnerGone {
  AttemptId attempt;
  std::vector<LogSize> logs = {};
  std::string last_words = {};
  Instant started = {};  // its first rank; ns = 0: not known
};
struct OutputsProgress {  // there is something to collect; how far it is, in words
  AttemptId attempt;
  std::string text;
  bool no_space = false;  // the launcher refuses the rest until somebody frees space there
};
struct OutputsCollected {  // all that can be kept is in the launcher's blob store
  AttemptId attempt;
  std::vector<CollectedOutput> outputs = {};
  std::optional<NotKept> not_kept = {};  // what its ranks made and no output takes
};
struct FolderCaptured {  // its ./logs or ./outputs changed; so they are now
  AttemptId attempt;
  CollectedOutput folder;
};
// The answer to each CaptureCheckpoint. Absent: unchanged, or not readable now. Busy: it is being
// written; try again soon.
struct CheckpointCaptured {
  AttemptId attempt;
  std::optional<CollectedOutput> checkpoint = {};
  bool busy = false;
};
struct PartRemoved {
  AttemptId attempt;
};  // its directory, cgroups and mounts are gone
struct Tick {};
using Input = std::variant<Recovered, Connected, FromLauncher, WorkspaceStaged, StagingProgress,
                           EnvironmentProgress, EnvironmentChanged, EnvironmentFailed,
                           RunnerStarted, RunnerReported, RunnerGone, OutputsProgress,
                           OutputsCollected, FolderCaptured, CheckpointCaptured, PartRemoved, Tick>;

// ---- actions (idempotent) ----------------------------------------------------------------------
struct SendSession {
  SessionOpen open;
};  // the shell fills inventory and version
struct SendHeartbeat {
  Heartbeat beat;
};
struct SendObserved {
  Observed observed;
};
struct StageWorkspace {
  Assignment assignment;
};  // -> WorkspaceStaged
// Makes its environment ready, as far as the plan in its assignment allows; repeated when the plan
// grows. -> EnvironmentProgress…, EnvironmentChanged…, EnvironmentFailed
struct PrepareEnvironment {
  Assignment assignment;
};
struct LeaveEnvironment {
  AttemptId attempt;
};  // nobody waits for it any more: nothing more is said of it
struct PruneUnused {
  Instant unused_since;
};  // what was built here and not used since goes
struct StartRunner {
  Assignment assignment;
};  // write assignment.pb, fork -> RunnerStarted
struct UpdateRunner {
  Assignment assignment;
};  // write assignment.pb, tell the runner
struct ShipLogs {
  AttemptId attempt;
};  // ship all logs, from now until removed
struct KillRunner {
  AttemptId attempt;
};  // SIGKILL runner and all that it started
// Bring what its ranks left to the launcher, however long that takes -> OutputsCollected.
struct CollectOutputs {
  Assignment assignment;
};
// Stops waiting for space on the launcher -> OutputsCollected, which lists the rest as a problem.
struct SettleOutputs {
  AttemptId attempt;
};
// While it runs: bring ./logs and ./outputs to the launcher if they changed -> FolderCaptured.
struct CaptureFolders {
  Assignment assignment;
};
// While it runs: bring its checkpoint to the launcher if it changed -> CheckpointCaptured.
// `insist`: also while it is being written.
struct CaptureCheckpoint {
  Assignment assignment;
  bool insist = false;
};
// Its ranks may run until then and no longer, also if this agent dies.
struct RenewLease {
  AttemptId attempt;
  Instant until;
};
struct RemovePart {
  AttemptId attempt;
};                    // -> PartRemoved; a collection at work is given up
struct Reconnect {};  // the launcher is silent: close and dial again
struct ExitAgent {
  std::string reason;
};  // refused: print and leave with a non-zero code
using Action =
    std::variant<SendSession, SendHeartbeat, SendObserved, StageWorkspace, PrepareEnvironment,
                 LeaveEnvironment, PruneUnused, StartRunner, UpdateRunner, ShipLogs, KillRunner,
                 CollectOutputs, SettleOutputs, CaptureFolders, CaptureCheckpoint, RenewLease,
                 RemovePart, Reconnect, ExitAgent>;

struct Config {
  NodeId node;
  BootId boot;
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  Duration launcher_silent_after = seconds(5);  // then dial again; runners are left alone
  Duration logs_every = seconds(10);            // ./logs of a part that runs
  Duration stop_overdue = seconds(30);          // past grace: the runner itself is killed
  // How long the outputs of a canceled job wait for space on the launcher.
  Duration space_timeout = seconds(30);
};

class Core {
 public:
  explicit Core(Config config);
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  std::vector<Action> handle(Instant now, const Input& input);
  Instant next_deadline() const;
  // The parts this node knows, for tests and checkers.
  std::vector<PartReport> observed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::agent
