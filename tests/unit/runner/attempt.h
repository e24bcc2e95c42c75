#pragma once
// An attempt without an agent: a directory with an assignment, the real lockstep-runner on it, and
// what it left. Each one's marker is in the environment of its ranks, so that survivors are found.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runner_messages.h"
#include "common/domain/workspace_plan.h"
#include "common/io/attempt_dir.h"
#include "common/io/file_system.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {

class Attempt {
 public:
  // One node, no distribution, every cpu, as the current user.
  Attempt();
  explicit Attempt(const std::string& job);
  ~Attempt();  // kills what is left of the runner
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  Attempt& shell(const std::string& text);
  Attempt& argv(std::vector<std::string> words);
  Attempt& ranks(int count);

  Assignment assignment;
  WorkspacePlan workspace;
  // Start the runner as this user; the directory becomes theirs.
  std::optional<unsigned> runner_uid;
  Bytes log_spool = gibibytes(1);
  std::map<std::string, std::string> runner_variables;  // on top of ours

  void write_assignment();
  void write_orders();  // all that an agent writes
  void start();
  // Until it left by itself; its exit status (0: it left well), or -1 after a minute.
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

// An agent's end of control.sock.
class FakeAgent {
 public:
  explicit FakeAgent(const Attempt& attempt);  // waits until the runner listens
  std::optional<PartReport> next_report();     // nullopt: closed, or nothing for a minute
  // The first report for which this holds.
  std::optional<PartReport> report_in(PartState state);
  void send(const Assignment& assignment);
  // False: the runner has closed its end.
  bool send_control(const RunnerControl& message);

 private:
  io::Fd socket_;
};

}  // namespace lockstep::runner::testing
