#pragma once
// Jobs with environments on two nodes, and their agents' reports about the environments.

#include <string>
#include <utility>
#include <vector>

#include "launcher/core/attempts/environment_locks.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {

inline EnvironmentDefinition numpy(const std::string& version = "1.26") {
  return VenvEnvironment{"python3", {}, {"numpy==" + version}, {}};
}

inline JobSpec needing(EnvironmentDefinition definition, std::string name, int nodes = 1) {
  JobSpec spec = job_spec(std::move(name), nodes);
  spec.resources.cpus = 1;
  spec.resources.memory = gibibytes(1);
  spec.resources.gpus = 0;
  spec.environment = EnvironmentSpec{"", "", std::move(definition)};
  return spec;
}

inline RegisteredEnvironment called(const std::string& name, const std::string& version,
                                    EnvironmentDefinition definition = numpy()) {
  return {{name, version, std::move(definition)}, "", {}};
}

struct Environments : ::testing::Test {
  using Step = EnvironmentReport::Step;
  PartReport says(const AttemptId& id, Step step, const std::string& platform = "py311") {
    PartReport made = report(id, PartState::staging);
    made.environment.emplace();
    made.environment->step = step;
    made.environment->platform = platform;
    made.environment->generation = generation;
    return made;
  }
  void wants(FakeNode& node, const AttemptId& id, const std::string& platform = "py311") {
    launcher.observe(node, says(id, Step::wants_lock, platform));
    launcher.drop_notices();
    launcher.tick(milliseconds(1));
  }
  void solves(FakeNode& node, const AttemptId& id, const std::string& lock,
              const std::string& platform = "py311") {
    PartReport made = says(id, Step::solved, platform);
    made.environment->lock = sha256(lock);
    launcher.observe(node, made);
    launcher.drop_notices();
    for (const auto& refused : launcher.take<ReportRefused>()) audited.push_back(refused.node);
  }
  // The node reports that it cannot solve.
  void fails(FakeNode& node, const AttemptId& id, const std::string& why,
             const std::string& platform = "py311") {
    PartReport made = says(id, Step::not_solved, platform);
    made.environment->why = told(why);
    launcher.observe(node, made);
    launcher.drop_notices();
    launcher.tick(milliseconds(1));
  }
  EnvironmentPlan plan(const FakeNode& node, const AttemptId& id) {
    return launcher.assignment(node, id).environment;
  }
  std::vector<EnvironmentLock> locks(const FakeNode& node, const AttemptId& id) {
    return plan(node, id).locks;
  }
  std::string create(RegisteredEnvironment environment) {
    launcher.send(CreateEnvironmentInput{launcher.next_reply(), std::move(environment), "",
                                         UserCaller{"alice"}});
    return launcher.expect_one<ReplyEnvironment>().version;
  }
  Error create_refused(RegisteredEnvironment environment) {
    launcher.send(CreateEnvironmentInput{launcher.next_reply(), std::move(environment), "",
                                         UserCaller{"alice"}});
    const ReplyRefused refused = launcher.expect_one<ReplyRefused>();
    return make_error(refused.code, refused.message);
  }

  TestLauncher launcher;
  std::vector<NodeId> audited;  // nodes whose locks were refused
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  std::uint64_t generation = 0;
};

}  // namespace lockstep::launcher
