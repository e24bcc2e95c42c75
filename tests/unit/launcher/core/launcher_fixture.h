#pragma once
// Drives a launcher's core through inputs alone, with minimal fake agents. After every step it
// checks that the invariants hold, that a second core that got only the facts has the same state,
// and that the next deadline is plausible. A test must consume every action before the next step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/why/why.h"
#include "launcher/core/core.h"
#include "launcher/state/state.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {

// An agent as the launcher sees it: an identity, and reports on demand.
struct FakeNode {
  NodeId id;
  PublicKey key;
  BootId boot{"boot-1"};
  SessionId session;
  Inventory inventory;
  std::uint64_t sequence = 0;
};

Inventory inventory(int cpus = 4, Bytes memory = gibibytes(8), int gpus = 0);
JobSpec job_spec(std::string name, int nodes = 1, int ranks = 1);

// Rank exits for reports.
RankExit rank_exit(int rank, Cause cause = Cause::completed, int code = 0, Instant time = {});
RankExit terminated(int rank, Instant time = {});
// A node's final report with these ranks; cause and first failed rank are derived from them.
NodeExitReport node_exit(std::vector<RankExit> ranks);
NodeExitReport node_failure(Cause cause, std::string message);

class TestLauncher {
 public:
  explicit TestLauncher(CoreConfig config = {});
  ~TestLauncher();
  TestLauncher(const TestLauncher&) = delete;
  TestLauncher& operator=(const TestLauncher&) = delete;

  // ---- steps
  void send(Input input);
  void tick(Duration after = Duration(0));
  // Lets `time` pass while the given nodes send heartbeats, and consumes the resulting actions.
  void pass(Duration time, std::vector<FakeNode*> beating = {});
  // Kills the launcher and starts it again from its facts.
  void restart(Duration downtime = milliseconds(100));

  // As if an earlier launcher had written the fact.
  void found(Fact fact);

  // ---- nodes
  FakeNode join(const std::string& name, Inventory inventory = lockstep::launcher::inventory());
  FakeNode join_with(const Digest& token, const std::string& name, Inventory inventory);
  void open(FakeNode& node, std::vector<PartReport> parts = {});  // and expects to be accepted
  void restart_agent(FakeNode& node, std::vector<PartReport> parts);
  void reboot(FakeNode& node, std::vector<PartReport> parts = {});
  void beat(const FakeNode& node);
  // The SessionOpen that the node would send now, having applied all that it was sent.
  SessionOpen opening(const FakeNode& node, std::vector<PartReport> parts = {}) const;
  void send_session(const FakeNode& node, std::vector<PartReport> parts = {});
  // An Observed with one report, and its acknowledgement.
  void observe(FakeNode& node, PartReport report);
  void observe(FakeNode& node, const AttemptId& attempt, PartState state);
  void prepared(FakeNode& node, const AttemptId& attempt);
  void finished(FakeNode& node, const AttemptId& attempt, NodeExitReport exit);
  void removed(FakeNode& node, const AttemptId& attempt);

  // ---- clients
  ReplyTo next_reply() { return {1, ++request_}; }
  JobId submit(JobSpec spec);
  Error submit_refused(JobSpec spec);
  void cancel(const JobId& job, const std::string& by = "alice");
  // Runs a single-node attempt from placed to its end, without logs.
  void run_solo(FakeNode& node, const AttemptId& attempt, NodeExitReport exit);

  // ---- results
  // Takes all actions of a type; they count as consumed.
  template <typename T>
  std::vector<T> take() {
    std::vector<T> taken;
    std::vector<Action> rest;
    for (Action& action : actions_) {
      if (auto* match = std::get_if<T>(&action))
        taken.push_back(std::move(*match));
      else
        rest.push_back(std::move(action));
    }
    actions_ = std::move(rest);
    return taken;
  }
  template <typename T>
  T expect_one() {
    std::vector<T> taken = take<T>();
    EXPECT_EQ(taken.size(), 1U) << "actions of the expected type";
    return taken.empty() ? T{} : std::move(taken.front());
  }
  // Drops the actions that most tests ignore: JobChanged, SendDesired, TreesReplaced.
  void drop_notices();
  // All facts of a type so far.
  template <typename T>
  std::vector<T> facts() const {
    std::vector<T> found;
    for (const StampedFact& stamped : facts_)
      if (const auto* match = std::get_if<T>(&stamped.fact)) found.push_back(*match);
    return found;
  }
  const std::vector<StampedFact>& all_facts() const { return facts_; }

  // With the reasons in words, as launcher/api gives them to a reader.
  JobView view(const JobId& job) const;
  ExplainView explain(const JobId& job) const;
  Why why(const JobId& job) const { return view(job).why; }
  JobStatus status(const JobId& job) const { return view(job).status; }
  Liveness liveness(const FakeNode& node) const;
  // The attempt's assignment on the node; fails the test if there is none.
  Assignment assignment(const FakeNode& node, const AttemptId& attempt) const;
  bool assigned(const FakeNode& node, const AttemptId& attempt) const;
  std::vector<NodeId> placed_on(const AttemptId& attempt) const { return core->nodes_of(attempt); }

  CoreConfig config;
  std::optional<Core> core;
  Instant now;

 private:
  void check_consumed(const char* when);
  void fill_caller(Input& input);
  void check_compaction();
  void check_state(std::size_t new_facts);

  Core replica_;  // gets facts only
  std::vector<StampedFact> facts_;
  std::vector<Action> actions_;
  std::uint64_t request_ = 0;
  std::uint64_t next_session_ = 1;
};

// What `job explain` tells those who may see the job but not read it.
std::vector<std::string> lines_for_all(const ExplainView& explained);
AttemptId attempt(const JobId& job, std::uint32_t number = 1);
PartReport report(const AttemptId& attempt, PartState state);

}  // namespace lockstep::launcher
