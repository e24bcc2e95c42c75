#include "agent/daemon/links/log_shipper.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>

#include "common/io/attempt/log_times.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

// A launcher's log store: appends what fits, acknowledges what it has.
class Store {
 public:
  std::optional<LogAck> take(const BulkMessage& message) {
    if (const auto* append = std::get_if<LogAppend>(&message)) {
      std::string& log = logs[append->key];
      if (append->offset > log.size()) return LogAck{append->key, log.size()};  // a gap
      log = log.substr(0, append->offset) + append->data;
      return LogAck{append->key, log.size()};
    }
    return std::nullopt;
  }
  std::map<LogKey, std::string> logs;
};

class LogShipperTest : public testing::Test {
 protected:
  LogShipperTest() : directory_(dir_ / "job.1") {
    EXPECT_TRUE(io::make_directories(directory_.logs()));
    make_shipper();
  }
  void make_shipper(LogShipper::Limits limits = {}) {
    shipper_.reset();
    shipper_ = std::make_unique<LogShipper>(
        loop_, NodeId(1),
        [this](BulkMessage message) -> Status {
          if (!connected_) return make_error(ErrorCode::unavailable, "down");
          sent_.push_back(std::move(message));
          return {};
        },
        [this](const AttemptId& attempt, const std::vector<LogSize>& logs) {
          EXPECT_EQ(attempt, attempt_);
          for (const LogSize& size : logs) taken_[size.rank] = size;
          ++told_;
        },
        limits);
    shipper_->on_link_up();
  }
  void append(int rank, LogStream stream, const std::string& text) {
    const auto file = io::open_file(directory_.log(rank, stream), O_WRONLY | O_CREAT | O_APPEND);
    ASSERT_TRUE(file);
    ASSERT_TRUE(io::write_all(file->get(), text));
  }
  void turn() {
    loop_.turn(milliseconds(1));
    shipper_->tick(now_);
  }
  // Everything that was sent goes to the store, and its answers come back.
  void answer() {
    std::vector<BulkMessage> batch;
    batch.swap(sent_);
    for (const BulkMessage& message : batch) {
      if (const auto ack = store_.take(message)) shipper_->on_ack(*ack, now_);
      const auto* resume = std::get_if<LogResume>(&message);
      if (!resume) continue;
      ++resumes_;
      for (const LogKey& key : resume->keys) {
        shipper_->on_ack({key, store_.logs[key].size()}, now_);
      }
    }
  }
  bool settle(const std::function<bool()>& condition) {
    return turn_until(
        [&] {
          turn();
          answer();
        },
        condition, seconds(5));
  }

  const AttemptId attempt_{JobId("job"), 1};
  const LogKey out_{attempt_, 0, LogStream::out};
  const LogKey err_{attempt_, 0, LogStream::err};
  TempDir dir_;
  io::AttemptDir directory_;
  io::EventLoop loop_;
  Instant now_{1'000'000'000'000};
  bool connected_ = true;
  std::vector<BulkMessage> sent_;
  Store store_;
  int resumes_ = 0;
  std::map<int, LogSize> taken_;
  int told_ = 0;
  std::unique_ptr<LogShipper> shipper_;
};

TEST_F(LogShipperTest, ShipsWhatIsThereAndWhatComesInTheTurnItComes) {
  append(0, LogStream::out, "before\n");
  shipper_->ship(attempt_, directory_, false);
  shipper_->tick(now_);
  ASSERT_EQ(sent_.size(), 1u);
  answer();
  append(0, LogStream::out, "after\n");
  append(0, LogStream::err, "oops\n");
  turn();
  ASSERT_EQ(sent_.size(), 2u) << "without a delay";
  answer();
  EXPECT_EQ(store_.logs[out_], "before\nafter\n");
  EXPECT_EQ(store_.logs[err_], "oops\n");
  EXPECT_EQ(shipper_->unacknowledged(), 0u);
  EXPECT_EQ(shipper_->next_deadline(), Instant{}) << "the acknowledgement is looked at in a turn";
  now_ = now_ + milliseconds(50);
  turn();
  EXPECT_EQ(shipper_->next_deadline(), Instant::never()) << "at rest nothing wakes it";
}

TEST_F(LogShipperTest, TellsWhatWasTakenAtMostEveryFiftyMilliseconds) {
  append(0, LogStream::out, "four");
  append(3, LogStream::err, "two");
  shipper_->ship(attempt_, directory_, false);
  turn();
  answer();
  turn();
  EXPECT_EQ(told_, 1);
  EXPECT_EQ(taken_[0], (LogSize{0, 4, 0}));
  EXPECT_EQ(taken_[3], (LogSize{3, 0, 3}));
  append(0, LogStream::out, "teen");
  turn();
  answer();
  turn();
  EXPECT_EQ(told_, 1) << "too soon";
  EXPECT_EQ(shipper_->next_deadline(), now_ + milliseconds(50));
  now_ = now_ + milliseconds(50);
  turn();
  EXPECT_EQ(told_, 2);
  EXPECT_EQ(taken_[0], (LogSize{0, 8, 0}));
}

TEST_F(LogShipperTest, AnEnvironmentsLogIsShippedAndNoRunnerIsToldOfIt) {
  const LogKey environment{attempt_, 1, LogStream::environment};
  shipper_->ship(attempt_, directory_, false);
  append(1, LogStream::environment, "solving\n");
  turn();
  answer();
  EXPECT_EQ(store_.logs[environment], "solving\n") << "from its first line";
  now_ = now_ + milliseconds(50);
  turn();
  EXPECT_EQ(told_, 0) << "rank 1 has written nothing";
  EXPECT_EQ(shipper_->next_deadline(), Instant::never());
  append(1, LogStream::environment, "ready\n");
  append(1, LogStream::out, "hello\n");
  ASSERT_TRUE(settle([&] {
    now_ = now_ + milliseconds(50);
    return told_ > 0;
  }));
  EXPECT_EQ(taken_[1], (LogSize{1, 6, 0, 0}));
  EXPECT_EQ(store_.logs[environment], "solving\nready\n");
}

TEST_F(LogShipperTest, TimesTravelWithTheirBytes) {
  const std::string path = directory_.log(0, LogStream::out);
  append(0, LogStream::out, "one\ntwo\n");
  ASSERT_TRUE(io::LogTimes(path).append({{0, Instant{1'000}}, {4, Instant{2'000}}}));
  shipper_->ship(attempt_, directory_, false);
  shipper_->tick(now_);
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(std::get<LogAppend>(sent_[0]).times,
            (std::vector<LogTime>{{0, Instant{1'000}}, {4, Instant{2'000}}}));
  answer();
  append(0, LogStream::out, "three\n");
  ASSERT_TRUE(io::LogTimes(path).append({{8, Instant{3'000}}}));
  turn();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(std::get<LogAppend>(sent_[0]).times, (std::vector<LogTime>{{8, Instant{3'000}}}));
}

// The runner's clock goes on evenly; the launcher measures the machine's.
TEST_F(LogShipperTest, TimesFollowAClockThatWasSet) {
  const std::string path = directory_.log(0, LogStream::out);
  const Instant read = now_ - seconds(2);
  ASSERT_TRUE(io::LogTimes(path).append({{0, read}}));
  append(0, LogStream::out, "one\n");
  put(directory_.clock_set(), "-500000000");
  shipper_->ship(attempt_, directory_, false);
  turn();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(std::get<LogAppend>(sent_[0]).times,
            (std::vector<LogTime>{{0, read - milliseconds(500)}}));
}

TEST_F(LogShipperTest, KeepsItsWindowAndGoesOnWithTheAcknowledgements) {
  LogShipper::Limits limits;
  limits.window_bytes = 600 << 10;
  make_shipper(limits);
  const std::string text(2 << 20, 'x');
  append(0, LogStream::out, text);
  shipper_->ship(attempt_, directory_, false);
  for (int i = 0; i < 10; ++i) turn();
  EXPECT_EQ(shipper_->unacknowledged(), limits.window_bytes);
  for (const auto& message : sent_) {
    EXPECT_LE(std::get<LogAppend>(message).data.size(), kMaxLogChunkBytes);
  }
  EXPECT_TRUE(settle([&] { return store_.logs[out_].size() == text.size(); }));
  EXPECT_EQ(shipper_->unacknowledged(), 0u);
}

TEST_F(LogShipperTest, OneLoudRankDoesNotKeepAnotherFromBeingHeard) {
  LogShipper::Limits limits;
  limits.bytes_per_turn = 512 << 10;
  make_shipper(limits);
  append(0, LogStream::out, std::string(3 << 20, 'x'));
  append(1, LogStream::out, "me too\n");
  shipper_->ship(attempt_, directory_, false);
  turn();
  bool heard = false;
  for (const auto& message : sent_) heard |= std::get<LogAppend>(message).key.rank == 1;
  EXPECT_TRUE(heard);
}

TEST_F(LogShipperTest, AfterALostConnectionItGoesOnWhereTheLauncherStands) {
  shipper_->ship(attempt_, directory_, false);
  append(0, LogStream::out, "one ");
  turn();
  answer();
  append(0, LogStream::out, "two ");
  turn();
  sent_.clear();  // lost on the way
  shipper_->on_link_down();
  connected_ = false;
  append(0, LogStream::out, "three");
  turn();
  EXPECT_EQ(shipper_->next_deadline(), Instant::never()) << "no wake-ups for a dead launcher";
  connected_ = true;
  shipper_->on_link_up();
  EXPECT_TRUE(settle([&] { return store_.logs[out_] == "one two three"; })) << store_.logs[out_];
  EXPECT_EQ(resumes_, 1);
}

TEST_F(LogShipperTest, ALauncherThatWasRestoredFromABackupGetsWhatItLacksAgain) {
  append(0, LogStream::out, "before the backup, after it\n");
  shipper_->ship(attempt_, directory_, false);
  ASSERT_TRUE(settle([&] { return taken_[0].stdout_bytes == 28; }));
  shipper_->on_link_down();
  store_.logs[out_].resize(18);
  shipper_->on_link_up();
  ASSERT_TRUE(settle([&] { return store_.logs[out_].size() > 18; }));
  EXPECT_EQ(store_.logs[out_], "before the backup, after it\n");
}

TEST_F(LogShipperTest, ALostMessageIsAskedAboutAfterAWhile) {
  shipper_->ship(attempt_, directory_, false);
  append(0, LogStream::out, "lost");
  turn();
  sent_.clear();
  turn();
  EXPECT_TRUE(sent_.empty());
  EXPECT_LE(shipper_->next_deadline(), now_ + seconds(2));
  now_ = now_ + seconds(2);
  EXPECT_TRUE(settle([&] { return store_.logs[out_] == "lost"; }));
}

TEST_F(LogShipperTest, ARestartedAgentAsksBeforeItSendsAnything) {
  append(0, LogStream::out, "old and new");
  store_.logs[out_] = "old ";
  shipper_->ship(attempt_, directory_, true);
  turn();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LogResume>(sent_[0]));
  answer();
  turn();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(std::get<LogAppend>(sent_[0]).data, "and new");
}

TEST_F(LogShipperTest, AFullQueueIsTriedAgainSoon) {
  shipper_->ship(attempt_, directory_, false);
  connected_ = false;
  append(0, LogStream::out, "x");
  turn();
  EXPECT_LE(shipper_->next_deadline(), now_ + milliseconds(20));
  connected_ = true;
  now_ = now_ + milliseconds(20);
  EXPECT_TRUE(settle([&] { return store_.logs[out_] == "x"; }));
}

TEST_F(LogShipperTest, OneWhoseLogsAreRefusedHoldsUpNoOther) {
  LogShipper::Limits limits;
  limits.window_bytes = 4'096;
  make_shipper(limits);
  append(0, LogStream::out, std::string(100'000, 'x'));
  shipper_->ship(attempt_, directory_, false);
  turn();
  ASSERT_FALSE(sent_.empty());
  sent_.clear();
  shipper_->on_refused(out_, now_);
  EXPECT_EQ(shipper_->unacknowledged(), 0U) << "its part of the window is free";
  append(0, LogStream::err, std::string(20'000, 'y'));
  EXPECT_TRUE(settle([&] { return store_.logs[err_].size() == 20'000; }));
  EXPECT_EQ(store_.logs[out_], "") << "not before a while has passed";
  now_ = now_ + limits.resume_after;
  turn();
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<LogResume>(sent_[0]));
  answer();
  turn();
  turn();
  ASSERT_EQ(sent_.size(), 1U) << "one try";
  EXPECT_TRUE(std::holds_alternative<LogAppend>(sent_[0]));
  EXPECT_TRUE(settle([&] { return store_.logs[out_].size() == 100'000; })) << "it was taken";
}

TEST_F(LogShipperTest, ForgettingFreesTheWindow) {
  append(0, LogStream::out, "x");
  shipper_->ship(attempt_, directory_, false);
  turn();
  EXPECT_EQ(shipper_->unacknowledged(), 1u);
  shipper_->forget(attempt_);
  EXPECT_EQ(shipper_->unacknowledged(), 0u);
  EXPECT_TRUE(shipper_->empty());
  shipper_->on_ack({out_, 1}, now_);  // late: of nobody
}

TEST_F(LogShipperTest, OtherFilesInTheDirectoryAreNoLogs) {
  put(directory_.logs() + "/rank_0.stdout.tmp", "x");
  put(directory_.logs() + "/notes", "x");
  shipper_->ship(attempt_, directory_, false);
  turn();
  EXPECT_TRUE(sent_.empty());
}

}  // namespace
}  // namespace lockstep::agent
