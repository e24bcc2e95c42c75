#pragma once
// The agent's decisions as a pure function. It compares the launcher's desired state with the parts
// that exist on this node and returns actions; it never reads a clock or touches a file. It has no
// journal: at start, `Recovered` passes in the state found in the attempt directories and runners.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/why/jobs/events.h"

namespace lockstep::agent {

// ---- inputs ------------------------------------------------------------------------------------
struct FoundPart {  // an attempt directory found at start
  Assignment assignment;
  enum class Runner { never_started, alive, finished, gone } runner = Runner::never_started;
  std::optional<NodeExitReport> exit;  // the final report, once the runner has finished
  std::vector<LogSize> logs = {};      // when the runner is gone: the sizes of the ranks' log files
  std::string last_words = {};         // when the runner is gone: the end of its own log
  std::optional<CollectedOutput> restored = {};  // the checkpoint that its ranks begin with
  Instant lease_until = {};                      // read from disk, if its assignment has a lease
  Instant started = {};                          // start of its first rank; ns = 0: unknown
  std::uint64_t environment_log_bytes = 0;
  Bytes log_times = {};  // when the runner is gone: the bytes of the times of `logs`
};
struct Recovered {
  std::vector<FoundPart> parts;
};                    // the first input, sent once
struct Connected {};  // the transport was (re)opened: open a session
struct FromLauncher {
  AgentReply message;
};  // SessionAccepted/Refused/Lost, Desired, acknowledgements
struct WorkspaceStaged {
  AttemptId attempt;
  // The result of staging. invalid_argument: the job asks for something wrong, so no node can stage
  // it. unsatisfiable: this node lacks a path that the job names, or room for what it needs.
  Status result;
  std::optional<CollectedOutput> restored = {};
  Cause cause = Cause::workspace_failed;  // used if `result` is an error
};
struct StagingProgress {
  AttemptId attempt;
  std::string text;
};
struct EnvironmentProgress {
  AttemptId attempt;
  std::string text;
};
struct EnvironmentChanged {  // `log_bytes`: the size of the environment log at this step
  AttemptId attempt;
  EnvironmentReport report;
  std::uint64_t log_bytes = 0;
};
struct EnvironmentFailed {
  AttemptId attempt;
  Error error;
  Cause cause = Cause::environment_failed;  // or start_failed: may be temporary
  std::uint64_t log_bytes = 0;
  Why why = {};  // set if there is more to tell than the error
};
struct RunnerStarted {
  AttemptId attempt;
  Status result;
};
struct RunnerReported {
  AttemptId attempt;
  PartReport report;
};  // the report from the runner's socket, or its final report
// The runner process ended without a final report. `logs` has the sizes of the ranks' log files, so
// that the launcher waits for all their bytes; `last_words` is the end of the runner's own log.
struct RunnerGone {
  AttemptId attempt;
  std::vector<LogSize> logs = {};
  std::string last_words = {};
  Instant started = {};  // start of its first rank; ns = 0: unknown
  Bytes log_times = {};  // the size of the times of `logs`
  // The directory of an attempt from which it was removed by somebody else.
  std::string removed_directory = {};
};
struct OutputsProgress {  // there are outputs to collect; `text` says how far collecting is
  AttemptId attempt;
  std::string text;
  // Collecting cannot continue until the launcher has space again, or until a person repairs the
  // node.
  bool is_stuck = false;
};
struct OutputsCollected {  // everything that can be kept is in the launcher's blob store
  AttemptId attempt;
  std::vector<CollectedOutput> outputs = {};
  std::optional<NotKept> not_kept = {};  // files that the ranks made and that no output includes
};
struct FolderCaptured {  // ./logs, ./outputs or a named output; `folder` is the new state
  AttemptId attempt;
  CollectedOutput folder;
};
// The answer to each CaptureCheckpoint. No `checkpoint`: it is unchanged, or it could not be
// captured now. `busy`: the ranks are writing it; try again soon.
struct CheckpointCaptured {
  AttemptId attempt;
  std::optional<CollectedOutput> checkpoint = {};
  bool busy = false;
};
struct PartRemoved {
  AttemptId attempt;
};  // the part's directory, cgroups and mounts are removed
// The machine will be taken away in `left`. `leave`: this agent must end because of it, and does so
// when nothing is left to do.
struct MachineTaken {
  Duration left{0};
  std::string reason;
  bool leave = false;
};
// The node's network has changed: the launcher must get the new inventory.
struct InventoryChanged {};
struct Tick {};
using Input =
    std::variant<Recovered, Connected, FromLauncher, WorkspaceStaged, StagingProgress,
                 EnvironmentProgress, EnvironmentChanged, EnvironmentFailed, RunnerStarted,
                 RunnerReported, RunnerGone, OutputsProgress, OutputsCollected, FolderCaptured,
                 CheckpointCaptured, PartRemoved, MachineTaken, InventoryChanged, Tick>;

// ---- actions (idempotent) ----------------------------------------------------------------------
struct SendSession {
  SessionOpen open;
};  // the shell fills in inventory, its number and version
struct SendHeartbeat {
  Heartbeat beat;
};
struct SendObserved {
  Observed observed;
};
struct StageWorkspace {
  Assignment assignment;
};  // -> WorkspaceStaged
// Prepares the part's environment with the data that the plan in its assignment has so far.
// Repeated when the launcher extends the plan. -> EnvironmentProgress…, EnvironmentChanged…,
// EnvironmentFailed
struct PrepareEnvironment {
  Assignment assignment;
};
struct LeaveEnvironment {
  AttemptId attempt;
};  // the attempt no longer waits for its environment; no more inputs about it follow
struct PruneUnused {
  Instant unused_since;
};  // remove environments built here and not used since then
struct StartRunner {
  Assignment assignment;
};  // write assignment.pb, fork -> RunnerStarted
struct UpdateRunner {
  Assignment assignment;
};  // write assignment.pb, tell the runner
struct ShipLogs {
  AttemptId attempt;
};  // send all its logs to the launcher until the part is removed
struct KillRunner {
  AttemptId attempt;
};  // SIGKILL the runner and every process that it started
// Sends the launcher the outputs of the ranks, however long it takes. -> OutputsCollected.
struct CollectOutputs {
  Assignment assignment;
  // set if ranks were killed because they did not end by themselves
  std::vector<Instant> killed = {};
};
// Stop waiting for space on the launcher -> OutputsCollected, which lists the outputs that did not
// fit as problems.
struct SettleOutputs {
  AttemptId attempt;
};
// Sends the launcher what changed in the output folders, while the part runs. -> FolderCaptured.
struct CaptureFolders {
  Assignment assignment;
};
// Sends the launcher the part's checkpoint if it changed, while the part runs.
// -> CheckpointCaptured. `insist`: also while the ranks are writing it.
struct CaptureCheckpoint {
  Assignment assignment;
  bool insist = false;
};
// Renews the lease: the ranks may run until then and no longer, even if this agent dies.
struct RenewLease {
  AttemptId attempt;
  Instant until;
};
struct RemovePart {
  AttemptId attempt;
};                    // -> PartRemoved; cancels a collection that is running
struct Reconnect {};  // the launcher is silent: close and dial again
struct ExitAgent {
  std::string reason;
};                       // the launcher refused us: print the reason and exit with a non-zero code
struct LeaveMachine {};  // end the agent: nothing is left to do before the machine is taken
using Action =
    std::variant<SendSession, SendHeartbeat, SendObserved, StageWorkspace, PrepareEnvironment,
                 LeaveEnvironment, PruneUnused, StartRunner, UpdateRunner, ShipLogs, KillRunner,
                 CollectOutputs, SettleOutputs, CaptureFolders, CaptureCheckpoint, RenewLease,
                 RemovePart, Reconnect, ExitAgent, LeaveMachine>;

struct Config {
  NodeId node;
  BootId boot;
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  // The agent dials again after this silence; runners keep running. Doubled with each attempt that
  // got no answer.
  Duration launcher_silent_after = seconds(5);
  Duration look_every = seconds(1);  // the time between looks for new files of a running part
  // the time after the grace period; then the runner is killed
  Duration stop_overdue = seconds(30);
  // How long outputs of a canceled job that are stuck are waited for.
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
  // The reports of all parts that this node knows, for tests and checkers.
  std::vector<PartReport> observed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::agent
