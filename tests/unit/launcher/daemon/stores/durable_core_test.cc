// The core in front of a disk that takes its time: what leaves at once, and what waits.

#include "launcher/daemon/stores/durable_core.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "common/io/disk.h"
#include "launcher/state/state.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

// While it stalls, no sync returns; then it succeeds or fails.
class StallingDisk final : public io::disk::Faults {
 public:
  std::optional<io::disk::Fault> before(io::disk::Call call, std::size_t) override {
    std::unique_lock lock(mutex_);
    if (call != io::disk::Call::sync) return std::nullopt;
    ++syncs_;
    changed_.wait(lock, [this] { return !stalls_; });
    if (error_ == 0) return std::nullopt;
    return io::disk::Fault{error_, std::nullopt};
  }
  void stall() { set(true, 0); }
  void go_on(int error = 0) { set(false, error); }
  int syncs() {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

 private:
  void set(bool stalls, int error) {
    const std::lock_guard lock(mutex_);
    stalls_ = stalls;
    error_ = error;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stalls_ = false;
  int error_ = 0;
  int syncs_ = 0;
};

class DurableCoreTest : public testing::Test {
 protected:
  DurableCoreTest() {
    open();
    durable_->feed(KeysFileInput{{"ada", {{"ada", PublicKey(std::string(40, 'u'))}}}});
    const Digest secret = sha256("secret");
    durable_->feed(TokenInput{{1, 1}, secret, durable_->now() + minutes(5), 1, ada()});
    EXPECT_TRUE(wait_for<ReplyDone>());
    durable_->feed(JoinInput{{2, 1}, secret, key_, "n"});
    EXPECT_TRUE(wait_for<ReplyJoined>());
    SessionOpen open;
    open.node = NodeId{1};
    open.session = SessionId{7};
    open.boot = BootId("boot");
    durable_->feed(SessionInput{key_, open});
    EXPECT_TRUE(wait_for<AcceptSession>());
    settle();
  }
  ~DurableCoreTest() override { disk_.go_on(); }

  void open() {
    auto durable = DurableCore::recover(loop_, dir_.path() + "/journal", {});
    ASSERT_TRUE(durable) << durable.error().message;
    durable_ = *std::move(durable);
  }
  static Caller ada() { return UserCaller{"ada"}; }
  // A turn of the loop; its actions are added to actions_. False: the journal is broken.
  bool turn() {
    do {
      auto actions = durable_->end_turn();
      if (!actions) return false;
      actions_.insert(actions_.end(), actions->begin(), actions->end());
      durable_->performed();
    } while (!durable_->idle());
    return true;
  }
  void settle() {
    const Instant end = durable_->now() + seconds(20);
    while (turn() && durable_->is_writing() && durable_->now() < end) loop_.turn(milliseconds(50));
  }
  template <typename Wanted>
  std::size_t count() const {
    std::size_t found = 0;
    for (const Action& action : actions_) found += std::holds_alternative<Wanted>(action) ? 1 : 0;
    return found;
  }
  template <typename Wanted>
  bool wait_for() {
    const Instant end = durable_->now() + seconds(20);
    for (; turn() && count<Wanted>() == 0 && durable_->now() < end;) loop_.turn(milliseconds(50));
    return count<Wanted>() > 0;
  }
  void create_project(const std::string& name) {
    durable_->feed(PrincipalInput{{3, 1}, CreateProject{name}, ada()});
  }
  bool has_project(const std::string& name) const {
    return durable_->core().state().principals().projects().count(name) != 0;
  }
  void beat(std::uint64_t number) {
    Heartbeat beat;
    beat.node = NodeId{1};
    beat.session = SessionId{7};
    beat.number = number;
    beat.desired_revision = durable_->core().state().node(NodeId{1})->revision;
    durable_->feed(HeartbeatInput{key_, beat});
  }
  // Begins a write that stalls.
  void stall() {
    disk_.stall();
    actions_.clear();
    create_project("first");
    ASSERT_TRUE(turn());
    ASSERT_TRUE(durable_->is_writing());
  }

  test::TempDir dir_;
  io::EventLoop loop_;
  StallingDisk disk_;
  io::disk::InFront front_{disk_};
  std::unique_ptr<DurableCore> durable_;
  std::vector<Action> actions_;
  const PublicKey key_{std::string(40, 'n')};
};

TEST_F(DurableCoreTest, HeartbeatsAreAcknowledgedDuringAWriteAndAllElseWaits) {
  stall();
  EXPECT_EQ(count<ReplyDone>(), 0U);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    beat(number);
    ASSERT_TRUE(turn());
  }
  EXPECT_EQ(count<AckHeartbeat>(), 3U);
  create_project("second");
  ASSERT_TRUE(turn());
  EXPECT_FALSE(has_project("second")) << "the core stands still";
  EXPECT_EQ(count<ReplyDone>(), 0U);
  disk_.go_on();
  settle();
  EXPECT_EQ(count<ReplyDone>(), 2U);
  EXPECT_TRUE(has_project("second"));
}

TEST_F(DurableCoreTest, AHeartbeatInATurnWithFactsIsAcknowledgedBeforeTheyAreDurable) {
  disk_.stall();
  actions_.clear();
  beat(1);
  create_project("first");
  ASSERT_TRUE(turn());
  EXPECT_EQ(count<AckHeartbeat>(), 1U);
  EXPECT_EQ(count<ReplyDone>(), 0U);
}

// Ten requests that waited are one transaction, not ten.
TEST_F(DurableCoreTest, WhatWaitedIsWrittenTogether) {
  stall();
  for (int i = 0; i < 10; ++i) create_project("p" + std::to_string(i));
  disk_.go_on();
  const Instant end = durable_->now() + seconds(20);
  int writes = 0;
  for (bool wrote = true; durable_->now() < end && (wrote || durable_->is_writing());) {
    loop_.turn(milliseconds(50));
    const bool was_writing = durable_->is_writing();
    ASSERT_TRUE(turn());
    wrote = !was_writing && durable_->is_writing();
    writes += wrote ? 1 : 0;
  }
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(count<ReplyDone>(), 11U);
}

TEST_F(DurableCoreTest, RequestsKeepTheirOrderAndReadADurableState) {
  stall();
  std::vector<std::string> seen;
  durable_->when_durable([&] { seen.push_back(has_project("second") ? "late" : "durable"); });
  create_project("second");
  durable_->ask([&] { seen.push_back(has_project("second") ? "second" : "none"); });
  ASSERT_TRUE(turn());
  EXPECT_TRUE(seen.empty());
  disk_.go_on();
  settle();
  EXPECT_THAT(seen, testing::ElementsAre("durable", "second"));
}

TEST_F(DurableCoreTest, OfOneNodeAFewMessagesWait) {
  stall();
  for (int i = 0; i < 100; ++i) {
    ObservedInput observed{key_, {}};
    observed.observed.node = NodeId{1};
    observed.observed.session = SessionId{7};
    observed.observed.sequence = static_cast<std::uint64_t>(i + 1);
    durable_->feed(observed);
  }
  disk_.go_on();
  settle();
  EXPECT_EQ(count<AckObserved>(), kMaxWaitingOfNode);
}

TEST_F(DurableCoreTest, ASlowWriteIsMeasured) {
  EXPECT_EQ(durable_->writes(), DiskWrites{});
  stall();
  const Instant end = durable_->now() + seconds(20);
  while (durable_->writes().slow_for == Duration(0) && durable_->now() < end) {
    EXPECT_LE(durable_->wait(), kSlowWrite);
    loop_.turn(durable_->wait());
  }
  EXPECT_GE(durable_->writes().slow_for, kSlowWrite);
  EXPECT_EQ(durable_->writes().last_slow, Duration(0)) << "it is not done yet";
  disk_.go_on();
  settle();
  EXPECT_EQ(durable_->writes().slow_for, Duration(0));
  EXPECT_GE(durable_->writes().last_slow, kSlowWrite);
}

TEST_F(DurableCoreTest, AfterAFailedWriteNothingIsPerformed) {
  stall();
  create_project("second");
  disk_.go_on(EIO);
  const Instant end = durable_->now() + seconds(20);
  while (turn() && durable_->now() < end) loop_.turn(milliseconds(50));
  EXPECT_EQ(count<ReplyDone>(), 0U);
  EXPECT_FALSE(durable_->end_turn()) << "and no later turn is";
}

// What nobody was told of may be lost; what they were told of is there.
TEST_F(DurableCoreTest, ACrashInAWriteLosesOnlyWhatNobodyWasToldOf) {
  create_project("told");
  settle();
  stall();
  disk_.go_on(EIO);
  durable_.reset();
  disk_.go_on();
  open();
  EXPECT_TRUE(has_project("told"));
}

TEST_F(DurableCoreTest, ACompactionTakesTheJournalsPlaceBetweenTwoWrites) {
  const auto compacted = compact_journal(dir_.path() + "/journal");
  ASSERT_TRUE(compacted) << compacted.error().message;
  stall();
  std::optional<Status> adopted;
  durable_->adopt(*compacted, [&](Status done) { adopted = std::move(done); });
  create_project("after");
  ASSERT_TRUE(turn());
  EXPECT_FALSE(adopted);
  disk_.go_on();
  settle();
  ASSERT_TRUE(adopted);
  EXPECT_TRUE(*adopted) << adopted->error().message;
  EXPECT_EQ(durable_->journal_kept(), compacted->kept);
  durable_.reset();
  open();
  EXPECT_TRUE(has_project("first"));
  EXPECT_TRUE(has_project("after"));
}

}  // namespace
}  // namespace lockstep::launcher
