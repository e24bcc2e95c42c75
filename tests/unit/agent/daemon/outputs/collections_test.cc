#include "agent/daemon/outputs/collections.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CollectionsTest : public testing::Test {
 protected:
  using Progress = OutputFunctions::Progress;
  using Collect = std::function<Result<Collected>(const Progress&, CancelToken&)>;

  void collect_by(Collect collect) {
    OutputFunctions functions;
    functions.is_anything_left = [](const auto&, const auto&) { return true; };
    functions.collect = [collect = std::move(collect)](const auto&, const auto&, const auto&,
                                                       const auto& tell, CancelToken& cancel) {
      return collect(tell, cancel);
    };
    functions.capture_checkpoint = [this](const auto&, const auto&, auto&, bool) {
      return checkpoint_failure_ ? Result<CapturedCheckpoint>(*checkpoint_failure_)
                                 : Result<CapturedCheckpoint>(CapturedCheckpoint());
    };
    functions.capture_so_far = [](const auto&, const auto&, auto&) {
      return Result<std::vector<CollectedOutput>>(std::vector<CollectedOutput>(1));
    };
    collections_ = std::make_unique<Collections>(
        loop_, quick_, AgentHome(dir_.path()), std::move(functions),
        [this](Input input) { inputs_.push_back(std::move(input)); }, milliseconds(1));
  }
  template <typename Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Input& input : inputs_)
      if (const auto* one = std::get_if<Kind>(&input)) found.push_back(*one);
    return found;
  }
  bool await(const std::function<bool()>& condition) {
    return turn_until([this] { loop_.turn(milliseconds(5)); }, condition);
  }
  template <typename Kind>
  bool await(std::size_t count = 1) {
    return await([&] { return all<Kind>().size() >= count; });
  }
  static Assignment job(int number) { return make_assignment("job" + std::to_string(number), ""); }

  TempDir dir_;
  io::EventLoop loop_;
  std::vector<Input> inputs_;
  std::optional<Error> checkpoint_failure_;
  std::unique_ptr<Collections> collections_;
  Workers quick_{2};  // ends before what it uses
};

Result<Collected> failure() {
  return make_error(ErrorCode::not_found, "user bob does not exist on n1");
}

Collected one_output() {
  Collected collected;
  collected.outputs.resize(1);
  collected.outputs[0].name = "model";
  return collected;
}

TEST_F(CollectionsTest, AFailureThatPassesLosesNothing) {
  std::atomic<int> tries = 0;
  collect_by([&](const Progress& tell, CancelToken&) -> Result<Collected> {
    tell("collecting model");
    if (++tries < 3) return failure();
    return one_output();
  });
  collections_->start(job(1));
  ASSERT_TRUE(await<OutputsCollected>());
  const auto done = all<OutputsCollected>().at(0);
  ASSERT_EQ(done.outputs.size(), 1u);
  EXPECT_EQ(done.outputs[0].name, "model");
  EXPECT_TRUE(done.outputs[0].problems.empty());
  const auto told = all<OutputsProgress>();
  ASSERT_EQ(told.size(), 5u);
  EXPECT_FALSE(told[0].is_stuck);
  EXPECT_THAT(told[1].text, AllOf(HasSubstr("tries again"), HasSubstr("user bob does not exist")));
  for (std::size_t i = 1; i < told.size(); ++i)
    EXPECT_TRUE(told[i].is_stuck) << "a collection that begins again is still stuck";
}

TEST_F(CollectionsTest, AFailureThatLastsIsAProblemOnceACancelSettlesIt) {
  collect_by([&](const Progress&, CancelToken&) { return failure(); });
  collections_->start(job(1));
  ASSERT_TRUE(await<OutputsProgress>(20));
  EXPECT_TRUE(all<OutputsCollected>().empty());
  collections_->settle(job(1).attempt);
  ASSERT_TRUE(await<OutputsCollected>());
  const auto done = all<OutputsCollected>().at(0);
  ASSERT_EQ(done.outputs.size(), 1u);
  EXPECT_THAT(done.outputs[0].problems, testing::ElementsAre("user bob does not exist on n1"));
}

// As on a full disk of the launcher: what waits must not hold up others, nor their cancels.
// One may be tried each second while the launcher has no space.
TEST_F(CollectionsTest, ACheckpointThatStillCannotBeSavedIsLoggedOnce) {
  collect_by([](const Progress&, CancelToken&) { return one_output(); });
  checkpoint_failure_ = make_error(ErrorCode::resource_exhausted, "no room for it");
  const auto lines = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", lines));
  for (std::size_t tries = 1; tries <= 5; ++tries) {
    collections_->capture_checkpoint(job(1), false);
    EXPECT_TRUE(await<CheckpointCaptured>(tries)) << "each try is answered";
  }
  spdlog::set_default_logger(before);
  int said = 0;
  for (const std::string& line : lines->last_formatted())
    if (line.find("no room for it") != std::string::npos) ++said;
  EXPECT_EQ(said, 1);
}

TEST_F(CollectionsTest, ThoseThatWaitHoldUpNobody) {
  collect_by([&](const Progress& tell, CancelToken& cancel) -> Result<Collected> {
    cancel.no_space(true);
    tell("no space");
    while (!cancel.settles())
      if (!cancel.wait(seconds(60))) return failure();
    return one_output();
  });
  for (int i = 1; i <= 20; ++i) collections_->start(job(i));
  ASSERT_TRUE(await<OutputsProgress>(20)) << all<OutputsProgress>().size();
  collections_->capture_checkpoint(job(30), false);
  collections_->capture_folders(job(30));
  EXPECT_TRUE(await<CheckpointCaptured>());
  EXPECT_TRUE(await<FolderCaptured>());
  collections_->settle(job(20).attempt);
  ASSERT_TRUE(await<OutputsCollected>());
  EXPECT_EQ(all<OutputsCollected>().at(0).attempt, job(20).attempt);
}

TEST_F(CollectionsTest, FewWorkAtOnceAlsoAfterTheyWaited) {
  std::atomic<int> working = 0, most = 0;
  const auto work = [&] {
    const int now = ++working;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    ::usleep(2'000);
    --working;
  };
  collect_by([&](const Progress&, CancelToken& cancel) -> Result<Collected> {
    work();
    if (!cancel.wait(milliseconds(1))) return failure();
    work();
    return one_output();
  });
  for (int i = 1; i <= 20; ++i) collections_->start(job(i));
  ASSERT_TRUE(await<OutputsCollected>(20));
  EXPECT_LE(most, 4);
}

TEST_F(CollectionsTest, OneThatIsForgottenSaysNoMore) {
  collect_by([&](const Progress&, CancelToken&) { return failure(); });
  collections_->start(job(1));
  ASSERT_TRUE(await<OutputsProgress>());
  collections_->forget(job(1).attempt);
  const std::size_t told = inputs_.size();
  collections_->start(job(2));
  ASSERT_TRUE(await([&] { return inputs_.size() > told + 3; }));
  for (std::size_t i = told; i < inputs_.size(); ++i)
    EXPECT_EQ(std::get<OutputsProgress>(inputs_[i]).attempt, job(2).attempt);
}

}  // namespace
}  // namespace lockstep::agent
