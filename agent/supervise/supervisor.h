#pragma once
// Manages the runners of this node: starts them detached, attaches to live ones, receives their
// reports, notices their death, kills them, and removes their files. It decides nothing: it carries
// out the actions of agent/core, and passes every event to agent/core as an input.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/supervise/agent_home.h"
#include "agent/supervise/runner_process.h"
#include "agent/supervise/runner_starter.h"
#include "agent/supervise/workers.h"
#include "common/io/attempt/runners.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"

namespace lockstep::agent {

class Supervisor {
 public:
  // Called on the loop's thread, never while a caller is inside one of our public methods.
  using Emit = std::function<void(Input)>;

  using RunnerProgram = agent::RunnerProgram;
  Supervisor(io::EventLoop& loop, Workers& workers, AgentHome home, RunnerProgram runner,
             Emit emit);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Scans the attempts and attaches to live runners. `same_boot`: see find_parts. Runners that
  // belong to no attempt are ended on a worker; until they are gone, no runner is started.
  Recovered recover(bool same_boot);
  // The node's fabric, for runners that start from now on (fabric.pb in attempt_dir.h).
  void use_fabric(const NodeFabric& fabric);
  // Starts a runner -> RunnerStarted, RunnerReported…, RunnerGone
  void start(const Assignment& assignment);
  void update(const Assignment& assignment);
  void logs_taken(const AttemptId& attempt, const std::vector<LogSize>& logs);
  // Tells the runner to end the ranks for the reason in `order`, unless they are ending already.
  void end(const AttemptId& attempt, const EndPart& order);
  bool is_running(const AttemptId& attempt) const;
  // Events of attachments. `received`: a frame of the attempt's runner; `gone`: the runner has
  // ended.
  struct AttachEvents {
    std::function<void(const AttemptId&, const AttachFrame&)> received;
    std::function<void(const AttemptId&)> gone;
  };
  void on_attach(AttachEvents events) { attach_ = std::move(events); }
  bool takes_frames(const AttemptId& attempt) const;  // whether the attempt's runner is connected
  void attach(const AttemptId& attempt, const AttachFrame& frame);
  // The newest sample of each live runner: what its ranks used. Old samples are left out.
  std::vector<PartUse> uses();
  void kill(const AttemptId& attempt);
  void remove(const AttemptId& attempt);  // -> PartRemoved; the second call kills a live runner

  Instant next_deadline() const;
  void tick(Instant now);

 private:
  enum class Removal {
    not_asked,
    asked,    // begins when the runner has ended; if it fails, the core asks again
    running,  // a worker is removing the part
  };
  struct Part {
    std::unique_ptr<RunnerProcess> process;  // null: no runner is alive
    PartReport last_report;
    std::optional<PartUse> use;  // the newest sample
    Instant use_at;
    Removal removal = Removal::not_asked;
  };
  void end_unknown(std::vector<io::Runner> unknown);
  void start_now(const Assignment& assignment);
  void attach(const AttemptId& attempt, const io::ProcessIdentity& identity);
  void started(const AttemptId& attempt, Result<io::ProcessIdentity> result);
  void on_death(const AttemptId& attempt);
  // `runner`: the one that has ended; pid 0: none was started.
  void clean(const AttemptId& attempt, const io::ProcessIdentity& runner,
             std::function<void()> then);
  void run_removal_if_asked(Part& part, const AttemptId& attempt);
  void watch_directory(const AttemptId& attempt);
  void on_directory_change();

  io::EventLoop& loop_;
  Workers& workers_;
  AgentHome home_;
  io::SystemClock clock_;
  const Duration use_lasts_;
  std::shared_ptr<RunnerStarter> starter_;
  Emit emit_;
  AttachEvents attach_;
  std::shared_ptr<const std::string> fabric_;  // the encoded fabric; null: unknown
  std::map<AttemptId, Part> parts_;
  // The starts that wait while runners of no attempt are being ended.
  std::optional<std::vector<Assignment>> held_starts_;
  Instant empty_quarantine_at_;       // due at the start, then every hour
  io::Fd inotify_;                    // tells when a control socket appears
  std::map<int, AttemptId> watched_;  // the attempts by their inotify watches
  // set to false so that late worker results are dropped
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  // Separate from `workers_`, so that removing a large tree does not delay the start of other jobs.
  Workers removers_;  // declared last, so that its threads end first
};

}  // namespace lockstep::agent
