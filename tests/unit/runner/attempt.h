#pragma once
// An attempt without an agent: a directory with an assignment, the real lockstep-runner that runs
// it, and its results. Its ranks have a marker in their environment, so that the test can find
// survivors.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/domain/why/why.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {

class Attempt {
 public:
  // The attempt has one node, no distribution, every CPU, and runs as the current user.
  Attempt();
  explicit Attempt(const std::string& job);
  ~Attempt();  // kills the runner's remaining processes
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  Attempt& shell(const std::string& text);
  Attempt& argv(std::vector<std::string> words);
  Attempt& ranks(int count);

  Assignment assignment;
  WorkspacePlan workspace;
  // The runner is started as this user, who then owns the directory.
  std::optional<unsigned> runner_uid;
  Bytes log_spool = gibibytes(1);
  std::map<std::string, std::string> runner_variables;  // in addition to our own

  void write_assignment();
  void write_orders();  // writes all files that an agent writes
  void start();
  // Waits for the runner to exit; its exit status (0: success), or -1 after a minute.
  int wait();
  int run() {
    start();
    return wait();
  }

  const std::string& started_in() const { return root_.path(); }
  int pid() const { return pid_; }
  const io::AttemptDir& directory() const { return directory_; }
  bool has_report() const { return io::exists(directory_.final_report()); }
  NodeExitReport report() const;
  std::string out(int rank = 0) const;
  std::string err(int rank = 0) const;
  std::string runner_log() const;
  // Processes that carry this attempt's marker.
  std::vector<int> survivors() const;
  // Cgroup directories that the runner recorded and that still exist.
  std::vector<std::string> leftover_cgroups() const;
  // Waits until the rank has printed this line on stdout.
  bool printed(const std::string& line, int rank = 0) const;

 private:
  TemporaryDirectory root_;
  io::AttemptDir directory_;
  std::string marker_;
  int pid_ = -1;
};

// The agent's end of control.sock.
class FakeAgent {
 public:
  explicit FakeAgent(const Attempt& attempt);  // waits until the runner listens
  std::optional<PartReport> next_report();     // nullopt: closed, or no report for a minute
  // The first report with this state.
  std::optional<PartReport> report_in(PartState state);
  std::optional<RunnerControl> next_message();  // nullopt: closed, or none for a minute
  void send(const Assignment& assignment);
  // False: the runner has closed its end.
  bool send_control(const RunnerControl& message);

 private:
  io::Fd socket_;
};

}  // namespace lockstep::runner::testing
