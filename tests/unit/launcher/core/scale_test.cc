// Many jobs and nodes: a step costs what it moves, not what there is. Counted in steps against each
// other in one run, so that no absolute time matters.

#include <chrono>

#include "launcher/core/core.h"
#include "launcher/core/queue/scheduler.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

// An unoptimised build, sanitized perhaps, takes its time with as many as DESIGN promises.
#ifdef NDEBUG
constexpr int kMany = 100'000;
#else
constexpr int kMany = 20'000;
#endif

// A core without the fixture's checks, which look at everything after each step.
struct BareLauncher {
  Core core{CoreConfig{}};
  Instant now{1'700'000'000'000'000'000};
  std::vector<FakeNode> nodes;

  explicit BareLauncher(int count) {
    core.recovered(now);
    const Digest token = sha256("token");
    core.handle(now, TokenInput{{}, token, now + minutes(60), count, LauncherItself{}});
    for (int i = 1; i <= count; ++i) {
      FakeNode node;
      node.id = NodeId(static_cast<std::uint64_t>(i));
      node.key = PublicKey("key" + std::to_string(i));
      node.session = SessionId(static_cast<std::uint64_t>(i));
      core.handle(now, JoinInput{{}, token, node.key, "n" + std::to_string(i)});
      const SessionOpen open{node.id, node.boot, node.session, "", inventory(), {}};
      core.handle(now, SessionInput{node.key, open});
      nodes.push_back(node);
    }
  }
  void submit(int i, int width = 1) {
    core.handle(now, SubmitInput{{},
                                 "s" + std::to_string(i),
                                 job_spec("job" + std::to_string(i), width),
                                 "",
                                 false,
                                 LauncherItself{}});
  }
  // One of `kinds` different requests, of one of 20 users.
  void submit_kind(int i, int kinds) {
    JobSpec spec = job_spec("job" + std::to_string(i), 1 + i % kinds % 3);
    spec.submitter = "user" + std::to_string(i % 20);
    spec.timeout = minutes(60 + i % kinds);
    core.handle(now, SubmitInput{{}, "s" + std::to_string(i), spec, "", false, LauncherItself{}});
  }
  void finish(FakeNode& node) {
    const DesiredState desired = core.desired_for(node.id);
    ASSERT_EQ(desired.assignments.size(), 1U);
    PartReport end = report(desired.assignments[0].attempt, PartState::finished);
    end.exit = node_exit({rank_exit(0)});
    core.handle(now, ObservedInput{node.key, {node.id, node.session, ++node.sequence, {end}, {}}});
  }
};

template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Scale, AStepDoesNotCostMoreWhenManyJobsWait) {
  BareLauncher few(2), many(2);
  for (int i = 0; i < kMany / 40; ++i) few.submit(i);
  for (int i = 0; i < kMany; ++i) many.submit(i, i % 3 == 2 ? 7 : 1);
  EXPECT_EQ(many.core.state().queue().size(), static_cast<std::size_t>(kMany - 2));
  const auto run = [](BareLauncher& launcher) {
    return seconds_of([&] {
      for (std::size_t i = 0; i < 300; ++i) launcher.finish(launcher.nodes[i % 2]);
    });
  };
  const double with_few = run(few), with_many = run(many);
  // All of the queue at each step would be 40 times as much.
  EXPECT_LT(with_many, 12 * with_few + 0.05);
}

// Each end is followed by a pass that looks for jobs to start before the head.
TEST(Scale, ABackfillPassCostsWhatDiffersNotWhatWaits) {
  constexpr int kNodes = 100, kKinds = 200;
  BareLauncher few(kNodes), many(kNodes);
  for (int i = 0; i < kNodes + kKinds; ++i) few.submit_kind(i, kKinds);
  for (int i = 0; i < kMany / 10; ++i) many.submit_kind(i, kKinds);
  const auto run = [](BareLauncher& launcher) {
    return seconds_of([&] {
      for (std::size_t i = 0; i < 50; ++i) {
        FakeNode& node = launcher.nodes[i];
        if (launcher.core.state().nodes().at(node.id).parts.size() != 1) continue;
        launcher.finish(node);
      }
    });
  };
  const double with_few = run(few), with_many = run(many);
  RecordProperty("milliseconds_for_a_pass", std::to_string(with_many * 1'000 / 50));
  EXPECT_LT(with_many, 12 * with_few + 0.05);
}

TEST(Scale, AHeartbeatDoesNotCostMoreWithManyNodes) {
  BareLauncher few(20), many(1'000);
  const auto run = [](BareLauncher& launcher) {
    FakeNode& node = launcher.nodes.front();
    return seconds_of([&] {
      for (int i = 0; i < 2'000; ++i)
        launcher.core.handle(launcher.now, HeartbeatInput{node.key, {node.id, node.session, 0, 0}});
    });
  };
  const double with_few = run(few), with_many = run(many);
  EXPECT_LT(with_many, 12 * with_few + 0.05);
}

// A gang that waits must not cost a look at all nodes for each node that comes back.
TEST(Scale, NodesThatComeBackWhileAGangWaitsCostOnePassForMany) {
  const auto come_back = [](int count) {
    BareLauncher launcher(count);
    launcher.submit(0, count);
    launcher.submit(1, count);  // waits behind the first
    const double each =
        seconds_of([&] {
          for (FakeNode& node : launcher.nodes) {
            node.session = SessionId(node.session.value + 100'000);
            const SessionOpen open{node.id, node.boot, node.session, "", inventory(), {}};
            launcher.core.handle(launcher.now, SessionInput{node.key, open});
          }
        }) /
        count;
    EXPECT_GT(launcher.core.next_deadline(), launcher.now);
    return each;
  };
  const double with_few = come_back(100), with_many = come_back(3'000);
  EXPECT_LT(with_many, 12 * with_few + 0.000'05);
}

TEST(Scale, AJobThatIsFreeToStartWaitsNoLongerThanTheRest) {
  constexpr int kNodes = 1'000;
  BareLauncher launcher(kNodes);
  for (int i = 0; i < kNodes + 2; ++i) launcher.submit(i);
  launcher.finish(launcher.nodes.front());
  launcher.finish(launcher.nodes.back());
  EXPECT_EQ(launcher.core.state().queue().size(), 2U);
  const Instant due = launcher.core.next_deadline();
  EXPECT_LE(due, launcher.now + rest_after_pass(kNodes));
  launcher.now = due;
  launcher.core.handle(launcher.now, TickInput{});
  EXPECT_EQ(launcher.core.state().queue().size(), 0U);
}

TEST(Scale, AThousandNodesAreFilledInOrder) {
  BareLauncher launcher(1'000);
  for (int i = 0; i < 1'500; ++i) launcher.submit(i);
  EXPECT_EQ(launcher.core.state().queue().size(), 500U);
  EXPECT_EQ(launcher.core.nodes_of(attempt(JobId("job999"))), std::vector<NodeId>{NodeId(1'000)});
  EXPECT_EQ(launcher.core.job_views().front().queue_position, 500);
}

}  // namespace
}  // namespace lockstep::launcher
