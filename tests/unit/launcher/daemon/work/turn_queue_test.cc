#include "launcher/daemon/work/turn_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "launcher/daemon/work/fair_workers.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- shares -------------------------------------------------------------------------------------

TEST(SharesTest, OneHasAPartOfWhatAllHaveAndIsToldSo) {
  Shares shares({"requests", 2, 3});
  EXPECT_TRUE(shares.take("user bob"));
  EXPECT_TRUE(shares.take("user bob"));
  const Status third = shares.take("user bob");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(third.error().message, HasSubstr("user bob already has 2 requests"));
  EXPECT_THAT(third.error().message, HasSubstr("send more when some of them are done"));
  EXPECT_TRUE(shares.take("user alice")) << "others have theirs";
  const Status fourth = shares.take("user carol");
  ASSERT_FALSE(fourth);
  EXPECT_THAT(fourth.error().message, HasSubstr("try again in a moment"));
  shares.give_back("user bob");
  EXPECT_TRUE(shares.take("user carol"));
  EXPECT_EQ(shares.count(), 3u);
  EXPECT_EQ(shares.count_of("user bob"), 1u);
}

TEST(SharesTest, BytesAreBoundedTooAndALargeSumDoesNotWrap) {
  Shares shares({"uploads", ShareBounds::kNone, ShareBounds::kNone, 100, 150});
  EXPECT_TRUE(shares.take("a", 100));
  EXPECT_FALSE(shares.take("a", 1));
  EXPECT_FALSE(shares.take("b", 51));
  EXPECT_FALSE(shares.take("b", ~std::uint64_t{0}));
  EXPECT_TRUE(shares.take("b", 50));
}

TEST(SharesTest, WhatIsHeldIsGivenBackWithItsLastCopy) {
  const auto shares = std::make_shared<Shares>(ShareBounds{"requests", 1});
  auto held = Shares::hold(shares, "a", 7);
  ASSERT_TRUE(held);
  auto copy = *held;
  held->reset();
  EXPECT_FALSE(Shares::hold(shares, "a", 7));
  copy.reset();
  EXPECT_EQ(shares->count(), 0u);
  EXPECT_TRUE(Shares::hold(shares, "a", 7));
}

// ---- turns --------------------------------------------------------------------------------------

std::vector<int> all_of(TurnQueue<int>& queue) {
  std::vector<int> taken;
  while (auto next = queue.pop()) taken.push_back(next->item);
  return taken;
}

TEST(TurnQueueTest, EachHasOneTurnHoweverManyItemsWait) {
  TurnQueue<int> queue({});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue.push("bob", i));
  ASSERT_TRUE(queue.push("alice", 10));
  ASSERT_TRUE(queue.push("alice", 11));
  ASSERT_TRUE(queue.push("carol", 20));
  EXPECT_THAT(all_of(queue), ElementsAre(0, 10, 20, 1, 11, 2, 3, 4));
  EXPECT_TRUE(queue.empty());
}

TEST(TurnQueueTest, WhoComesBackComesLast) {
  TurnQueue<int> queue({});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push("bob", i));
  ASSERT_TRUE(queue.push("alice", 10));
  EXPECT_EQ(queue.pop()->item, 0);
  EXPECT_EQ(queue.pop()->item, 10);
  ASSERT_TRUE(queue.push("alice", 11));
  EXPECT_THAT(all_of(queue), ElementsAre(1, 11, 2));
}

TEST(TurnQueueTest, WhatIsPutBackIsTheFirstOfItsOwnerWhoseTurnComesLast) {
  TurnQueue<int> queue({});
  ASSERT_TRUE(queue.push("bob", 0));
  ASSERT_TRUE(queue.push("bob", 1));
  ASSERT_EQ(queue.pop()->item, 0);
  ASSERT_TRUE(queue.push("alice", 10));
  queue.put_back("bob", 0);
  EXPECT_TRUE(queue.others_wait("bob"));
  EXPECT_THAT(all_of(queue), ElementsAre(10, 0, 1));
  EXPECT_FALSE(queue.others_wait("bob"));
}

TEST(TurnQueueTest, WhoMayNotYetIsPassedOver) {
  TurnQueue<int> queue({});
  ASSERT_TRUE(queue.push("bob", 0));
  ASSERT_TRUE(queue.push("alice", 10));
  const auto next = queue.pop([](const std::string& who, int) { return who != "bob"; });
  EXPECT_EQ(next->who, "alice");
  EXPECT_FALSE(queue.pop([](const std::string&, int) { return false; }));
  EXPECT_EQ(queue.pop()->who, "bob");
}

TEST(TurnQueueTest, ItIsBoundedAndWhatIsTakenMakesRoom) {
  TurnQueue<int> queue({"items", 2, 3});
  ASSERT_TRUE(queue.push("bob", 0));
  ASSERT_TRUE(queue.push("bob", 1));
  EXPECT_FALSE(queue.push("bob", 2));
  EXPECT_EQ(queue.size_of("bob"), 2u);
  queue.push_anyway("bob", 3);
  EXPECT_FALSE(queue.push("alice", 10)) << "of all";
  EXPECT_THAT(all_of(queue), ElementsAre(0, 1, 3));
  EXPECT_TRUE(queue.push("bob", 4));
}

// ---- workers ------------------------------------------------------------------------------------

class Gate {
 public:
  void open() {
    {
      const std::lock_guard guard(mutex_);
      is_open_ = true;
    }
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

class FairWorkersTest : public testing::Test {
 protected:
  void note(const std::string& what) {
    const std::lock_guard guard(mutex_);
    notes_.push_back(what);
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return notes_.size() >= count; });
    return notes_;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> notes_;
};

TEST_F(FairWorkersTest, AFloodOfOneDoesNotDelayAnother) {
  FairWorkers workers({});
  Gate gate;
  ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) {
    gate.pass();
    note("bob");
  }));
  for (int i = 0; i < 600; ++i)
    ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) { note("bob"); }));
  ASSERT_TRUE(workers.run("alice", [&](const FairWorkers::Pause&) { note("alice"); }));
  gate.open();
  const auto order = wait_for(602);
  ASSERT_EQ(order.size(), 602u);
  EXPECT_LE(std::find(order.begin(), order.end(), "alice") - order.begin(), 2);
}

TEST_F(FairWorkersTest, ALongWorkMakesWayAndGoesOnLater) {
  FairWorkers::Limits limits;
  limits.begun = 2;
  limits.slice = Duration::zero();
  FairWorkers workers(limits);
  Gate gate;
  ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause& pause) {
    note("bob begins");
    gate.pass();
    EXPECT_TRUE(pause());
    note("bob ends");
  }));
  ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) { note("bob's next"); }));
  ASSERT_EQ(wait_for(1).size(), 1u);
  ASSERT_TRUE(workers.run("alice", [&](const FairWorkers::Pause&) { note("alice"); }));
  gate.open();
  EXPECT_THAT(wait_for(4), ElementsAre("bob begins", "alice", "bob ends", "bob's next"));
}

TEST_F(FairWorkersTest, NobodyMakesWayForTheirOwn) {
  FairWorkers::Limits limits;
  limits.begun = 2;
  limits.slice = Duration::zero();
  FairWorkers workers(limits);
  Gate gate;
  ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause& pause) {
    gate.pass();
    EXPECT_TRUE(pause());
    note("first");
  }));
  ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) { note("second"); }));
  gate.open();
  EXPECT_THAT(wait_for(2), ElementsAre("first", "second"));
}

TEST_F(FairWorkersTest, SeveralRunAtATimeButNotAllOfOne) {
  FairWorkers::Limits limits;
  limits.at_once = limits.begun = 3;
  limits.at_once_of_one = 2;
  FairWorkers workers(limits);
  Gate gate;
  std::atomic<int> of_bob = 0, most_of_bob = 0;
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) {
      const int now = ++of_bob;
      if (now > most_of_bob) most_of_bob = now;
      gate.pass();
      --of_bob;
      note("bob");
    }));
  ASSERT_TRUE(workers.run("alice", [&](const FairWorkers::Pause&) { note("alice"); }));
  EXPECT_THAT(wait_for(1), ElementsAre("alice")) << "while bob's hold all that he may have";
  gate.open();
  EXPECT_EQ(wait_for(5).size(), 5u);
  EXPECT_EQ(most_of_bob, 2);
}

TEST_F(FairWorkersTest, TooManyAreRefusedAndTheEndWaitsForNobody) {
  Gate gate;
  {
    FairWorkers::Limits limits;
    limits.begun = 2;
    limits.slice = Duration::zero();
    limits.waiting = {"works", 1};
    FairWorkers workers(limits);
    ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause& pause) {
      note("begun");
      gate.pass();
      Status goes_on;
      while (goes_on) goes_on = pause();
      note(goes_on.error().message);
    }));
    ASSERT_EQ(wait_for(1).size(), 1u);
    ASSERT_TRUE(workers.run("bob", [&](const FairWorkers::Pause&) { note("never"); }));
    EXPECT_FALSE(workers.run("bob", [&](const FairWorkers::Pause&) { note("refused"); }));
    gate.open();
  }
  EXPECT_THAT(wait_for(2), ElementsAre("begun", "the launcher is ending"));
}

}  // namespace
}  // namespace lockstep::launcher
