// What nodes and jobs use, as agents report it and people are shown it.

#include <gmock/gmock.h>

#include "launcher/api/queries/usage_queries.h"
#include "launcher/daemon/ports/node_measurements.h"
#include "launcher/daemon/ports/usage_store.h"
#include "tests/fakes/api/clock_and_random.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

RankUse rank_use(int rank, std::int64_t cpu_milli = 500, Bytes memory = mebibytes(10)) {
  return {rank, cpu_milli, seconds(3), memory, memory, {}, {}};
}

class Usage : public testing::Test {
 protected:
  void SetUp() override {
    n1_ = launcher_.join("n1");
    n2_ = launcher_.join("n2");
    job_ = launcher_.submit(job_spec("job", 2, 2));
    launcher_.drop_notices();
    for (FakeNode* node : {&n1_, &n2_}) launcher_.prepared(*node, attempt(job_));
    launcher_.drop_notices();
    for (FakeNode* node : {&n1_, &n2_}) launcher_.observe(*node, attempt(job_), PartState::running);
    launcher_.drop_notices();
  }
  const State& state() const { return launcher_.core->state(); }
  UsageReport report(const FakeNode& node, std::vector<int> ranks, Duration quiet = {}) const {
    UsageReport report{node.id, node.session, seconds(5), {}, {}};
    report.use.cpu_milli = 1500;
    report.use.memory = gibibytes(2);
    PartUse& part = report.parts.emplace_back();
    part.attempt = attempt(job_);
    part.quiet = quiet;
    for (const int rank : ranks) part.ranks.push_back(rank_use(rank));
    return report;
  }
  std::size_t take(const FakeNode& node, UsageReport report) {
    std::size_t left_out = 0;
    store_.take(now_, node.id, own_use(state(), node.id, std::move(report), &left_out));
    return left_out;
  }
  NodeMeasurements measurements() const { return {store_, peers_, clock_, silent_after_}; }
  UsageReply ask(const std::string& user = "") const {
    const Caller caller = user.empty() ? Caller(LauncherItself{}) : Caller(UserCaller{user});
    return usage_of(measurements(), *launcher_.core, Viewer(state(), caller), GetUsage{});
  }

  TestLauncher launcher_;
  FakeNode n1_, n2_;
  JobId job_;
  UsageStore store_;
  PeerDirectory peers_;
  Duration silent_after_ = minutes(10);
  mutable test::FakeClockAndRandom clock_;
  Instant& now_ = clock_.time;
};

TEST_F(Usage, ANodeSpeaksOnlyOfItsOwnRanks) {
  UsageReport lies = report(n2_, {2, 3, 3, 0, 1, 4, -1, 1'000'000});
  PartUse foreign = lies.parts[0];
  foreign.attempt.number = 9;
  lies.parts.push_back(foreign);
  foreign.attempt.job = JobId("another");
  lies.parts.push_back(foreign);
  lies.parts.push_back(lies.parts[0]);
  lies.every = minutes(60 * 24 * 365);
  std::size_t left_out = 0;
  const UsageReport kept = own_use(state(), n2_.id, lies, &left_out);
  EXPECT_EQ(left_out, 6u + 3u);
  ASSERT_EQ(kept.parts.size(), 1u);
  ASSERT_EQ(kept.parts[0].ranks.size(), 2u);
  EXPECT_EQ(kept.parts[0].ranks[0].rank, 2);
  EXPECT_EQ(kept.every, kLongestSampleInterval) << "an old value is called old in the end";
  left_out = 0;
  EXPECT_TRUE(own_use(state(), NodeId(77), lies, &left_out).parts.empty());
}

TEST_F(Usage, SumsOfHostileValuesDoNotOverflow) {
  UsageReport huge = report(n1_, {0, 1});
  for (RankUse& rank : huge.parts[0].ranks) {
    rank.cpu_time = minutes(100LL * 366 * 24 * 60);
    rank.memory = Bytes{UINT64_MAX};
  }
  take(n1_, huge);
  EXPECT_EQ(ask().jobs.at(0).parts.at(0).use->sum.cpu_time, minutes(100LL * 366 * 24 * 60));
}

TEST_F(Usage, SamplesAreCoarseAndBounded) {
  UsageReport one = report(n1_, {0, 1});
  for (int i = 0; i < 2'000; ++i) {
    one.use.cpu_milli = i;
    now_ = now_ + seconds(1);
    take(n1_, one);
  }
  const auto node = store_.of_node(now_, n1_.id, true);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->use.cpu_milli, 1'999);
  ASSERT_EQ(node->history.size(), kUseSamples);
  EXPECT_GT(node->history.front().age, node->history.back().age);
  EXPECT_LE(node->history.front().age, kUseKeptFor);
  EXPECT_EQ(node->history.back().cpu_milli - node->history.front().cpu_milli, 590);
  EXPECT_EQ(node->history.back().gpu_percent, -1);
  EXPECT_TRUE(store_.of_node(now_, n1_.id, false)->history.empty());
  EXPECT_EQ(store_.of_node(now_ + minutes(5), n1_.id, true)->history.size(), 30u);
  EXPECT_TRUE(store_.of_node(now_ + minutes(11), n1_.id, true)->history.empty());
}

TEST_F(Usage, AValueThatIsTooOldIsStale) {
  take(n1_, report(n1_, {0, 1}));
  now_ = now_ + seconds(17);
  EXPECT_FALSE(store_.of_node(now_, n1_.id, false)->stale);
  now_ = now_ + seconds(1);
  EXPECT_TRUE(store_.of_node(now_, n1_.id, false)->stale);
  EXPECT_TRUE(store_.of_part(now_, n1_.id, attempt(job_))->stale);
  EXPECT_EQ(store_.of_part(now_, n1_.id, attempt(job_))->age, seconds(18));
  EXPECT_FALSE(store_.of_node(now_, n2_.id, false)) << "it has reported nothing";
}

TEST_F(Usage, ARemovedNodeIsForgotten) {
  for (std::uint64_t id = 1; id < 6; ++id) store_.take(now_, NodeId(id), report(n1_, {}));
  store_.keep_only(state());
  EXPECT_EQ(store_.nodes(), 2u);
}

TEST_F(Usage, AJobHasTheSumOfEachNode) {
  take(n1_, report(n1_, {0, 1}));
  const UsageReply reply = ask();
  ASSERT_EQ(reply.nodes.size(), 2u);
  EXPECT_EQ(reply.nodes[0].use->use.cpu_milli, 1500);
  EXPECT_EQ(reply.nodes[0].jobs, 1);
  EXPECT_FALSE(reply.nodes[1].use);
  ASSERT_EQ(reply.jobs.size(), 1u);
  EXPECT_EQ(reply.jobs[0].attempt, 1u);
  ASSERT_EQ(reply.jobs[0].parts.size(), 2u);
  EXPECT_EQ(reply.jobs[0].parts[0].use->sum.cpu_milli, 1000);
  EXPECT_EQ(reply.jobs[0].parts[0].use->sum.memory, mebibytes(20));
  EXPECT_EQ(reply.jobs[0].parts[0].ranks, 2);
  EXPECT_FALSE(reply.jobs[0].parts[1].use) << "its node has reported nothing";
}

TEST_F(Usage, SilentIsAJobWhoseNodesAreAllQuietForLong) {
  take(n1_, report(n1_, {0, 1}, minutes(30)));
  EXPECT_EQ(ask().jobs.at(0).silent, Duration::zero()) << "n2 may be busy";
  take(n2_, report(n2_, {2, 3}, minutes(9)));
  EXPECT_EQ(ask().jobs.at(0).silent, Duration::zero());
  take(n2_, report(n2_, {2, 3}, minutes(12)));
  EXPECT_EQ(ask().jobs.at(0).silent, minutes(12));
  silent_after_ = minutes(15);
  EXPECT_EQ(ask().jobs.at(0).silent, Duration::zero());
  silent_after_ = Duration::zero();
  EXPECT_EQ(ask().jobs.at(0).silent, Duration::zero()) << "0: never";
  silent_after_ = minutes(10);
  now_ = now_ + minutes(1);
  EXPECT_EQ(ask().jobs.at(0).silent, Duration::zero()) << "nobody knows what it does now";
}

TEST_F(Usage, WhoMayNotReadTheJobSeesNodesOnly) {
  take(n1_, report(n1_, {0, 1}, minutes(30)));
  take(n2_, report(n2_, {2, 3}, minutes(30)));
  const UsageReply reply = ask("stranger");
  EXPECT_EQ(reply.nodes.size(), 2u);
  EXPECT_TRUE(reply.nodes[0].use);
  EXPECT_TRUE(reply.jobs.empty());
  JobView view = launcher_.view(job_);
  const Caller stranger = UserCaller{"stranger"};
  add_use(measurements(), Viewer(state(), stranger), state(), true, &view);
  EXPECT_FALSE(view.attempts.at(0).parts.at(0).use);
  EXPECT_EQ(view.silent, Duration::zero());
  const Caller itself = LauncherItself{};
  add_use(measurements(), Viewer(state(), itself), state(), true, &view);
  EXPECT_EQ(view.attempts.at(0).parts.at(0).use->ranks.size(), 2u);
  EXPECT_EQ(view.silent, minutes(30));
}

TEST_F(Usage, TheEndOfARankKeepsWhatItUsed) {
  RankExit zero = rank_exit(0), one = rank_exit(1);
  zero.cpu_time = seconds(7);
  zero.peak_memory = mebibytes(300);
  launcher_.finished(n1_, attempt(job_), node_exit({zero, one}));
  const PartView part = launcher_.view(job_).attempts.at(0).parts.at(0);
  ASSERT_EQ(part.used.size(), 1u) << "of rank 1 nothing is known";
  EXPECT_EQ(part.used[0].cpu_time, seconds(7));
  EXPECT_EQ(part.used[0].peak_memory, mebibytes(300));
  launcher_.drop_notices();
}

}  // namespace
}  // namespace lockstep::launcher
