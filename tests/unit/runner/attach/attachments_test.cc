// The attachments of a part, with a real lockstep-spawn, a rank of its own, and a clock that is
// set.

#include "runner/attach/attachments.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

const std::string kSpawn = std::string(LOCKSTEP_BIN_DIR) + "/lockstep-spawn";

class SetClock final : public io::Clock {
 public:
  Instant now() override { return now_; }
  void pass(Duration duration) { now_ = now_ + duration; }

 private:
  Instant now_{1'000'000'000};
};

AttachId id_of(int number) {
  std::string text(kAttachIdBytes, 'x');
  text[0] = static_cast<char>(number);
  return AttachId(text);
}

class AttachmentsTest : public ::testing::Test, public AttachPlace {
 protected:
  void SetUp() override {
    auto client = spawn::Client::launch(loop_, kSpawn, {},
                                        {[this](int id, int pid) {
                                           if (id >= kFirstAttachedId)
                                             return attachments_->started(id, pid);
                                           ranks_[id].pid = pid;
                                         },
                                         [this](int id, int error, spawn::SpawnStage stage) {
                                           if (id >= kFirstAttachedId)
                                             attachments_->failed(id, error, stage);
                                         },
                                         [this](int id, int status, const spawn::Spent&) {
                                           if (id >= kFirstAttachedId)
                                             return attachments_->exited(id, status);
                                           ranks_[id].lives = false;
                                           attachments_->rank_exited(id, status);
                                         },
                                         [] {}, [this] { is_lost_ = true; }});
    ASSERT_TRUE(client) << client.error().message;
    client_ = *std::move(client);
    AttachFacts facts;
    facts.attempt = {JobId("job"), 1};
    facts.ranks_here = 2;
    facts.shell = "/bin/sh";
    facts.uid = geteuid();
    attachments_ = std::make_unique<Attachments>(loop_, clock_, *this, facts);
    start_rank(0);
  }
  void TearDown() override {
    attachments_.reset();
    client_.reset();
  }

  void send(const AttachFrame& frame) override { sent_.push_back(frame); }
  const RankHere* rank(int rank) const override {
    const auto found = ranks_.find(rank);
    return found == ranks_.end() ? nullptr : &found->second;
  }
  spawn::Client* spawn() override { return is_lost_ ? nullptr : client_.get(); }
  int spawn_pid() const override { return client_->pid(); }
  void started(int rank, int) override { joined_.push_back(rank); }
  void ended(int rank) override { left_.push_back(rank); }

  void start_rank(int rank) {
    spawn::RankProcess process;
    process.program = "sleep";
    process.path = "/usr/bin:/bin";
    process.argv = {"sleep", "600"};
    process.environment = {{"PATH", "/usr/bin:/bin"}};
    const io::Fd null = *io::open_file("/dev/null", 2);
    ASSERT_TRUE(client_->start(rank, process, null.get(), null.get(), null.get()));
    ranks_[rank].process = process;
  }
  void open(int number, AttachOrder order, std::optional<int> rank = std::nullopt) {
    AttachOpen open;
    open.job = JobId("job");
    open.attempt = {JobId("job"), 1};
    open.order = std::move(order);
    open.rank = rank;
    attachments_->take({id_of(number), open});
  }
  static AttachProgram script(const std::string& text) {
    AttachProgram order;
    order.argv = {"sh", "-c", text};
    return order;
  }
  template <typename Body>
  const Body* last(int number) const {
    for (auto frame = sent_.rbegin(); frame != sent_.rend(); ++frame)
      if (frame->attachment == id_of(number))
        if (const auto* body = std::get_if<Body>(&frame->body)) return body;
    return nullptr;
  }
  std::string output(int number) const {
    std::string text;
    for (const AttachFrame& frame : sent_)
      if (const auto* data = std::get_if<AttachData>(&frame.body))
        if (frame.attachment == id_of(number) && data->stream == AttachStream::output)
          text += data->bytes;
    return text;
  }
  bool until(const std::function<bool()>& so) {
    return turn_until(loop_, [&] {
      attachments_->expire(clock_.now());
      return so();
    });
  }
  bool is_told_end(int number) {
    return until([&] { return last<AttachEnd>(number) != nullptr; });
  }

  io::EventLoop loop_;
  SetClock clock_;
  std::unique_ptr<spawn::Client> client_;
  std::unique_ptr<Attachments> attachments_;
  std::map<int, RankHere> ranks_;
  std::vector<AttachFrame> sent_;
  std::vector<int> joined_, left_;
  bool is_lost_ = false;
};

TEST_F(AttachmentsTest, AProgramAnswersAndEnds) {
  open(1, script("echo out; exit 3"));
  ASSERT_NE(last<AttachOpened>(1), nullptr);
  EXPECT_EQ(last<AttachOpened>(1)->attempt, (AttemptId{JobId("job"), 1}));
  ASSERT_TRUE(is_told_end(1));
  EXPECT_EQ(*last<AttachEnd>(1), (AttachEnd{3, "", 4, 0}));
  EXPECT_EQ(output(1), "out\n");
  EXPECT_EQ(joined_, std::vector<int>{0});
  EXPECT_EQ(left_, std::vector<int>{0});
}

TEST_F(AttachmentsTest, AliveIsAnsweredAndKeepsItOpen) {
  open(1, script("exec sleep 600"));
  for (int i = 0; i < 20; ++i) {
    clock_.pass(kAttachAliveEvery);
    sent_.clear();
    attachments_->take({id_of(1), AttachAlive{}});
    EXPECT_NE(last<AttachAlive>(1), nullptr);
    attachments_->expire(clock_.now());
  }
  EXPECT_EQ(last<AttachEnd>(1), nullptr);
  EXPECT_LE(attachments_->next_deadline(), clock_.now() + kAttachSilence);
}

TEST_F(AttachmentsTest, OneThatIsNotHeardIsEndedAndNeverStartedAgain) {
  open(1, script("trap '' HUP TERM; echo up; while :; do sleep 1; done"));
  ASSERT_TRUE(until([&] { return output(1) == "up\n"; }));
  clock_.pass(kAttachSilence);
  attachments_->expire(clock_.now());
  EXPECT_NE(attachments_->next_deadline(), Instant::never()) << "it has a moment to hang up";
  clock_.pass(seconds(1));
  ASSERT_TRUE(until([&] { return attachments_->next_deadline() == Instant::never(); }))
      << "it was not killed";
  open(1, script("echo again"));
  ASSERT_NE(last<AttachRefused>(1), nullptr);
  EXPECT_FALSE(last<AttachRefused>(1)->for_now);
}

TEST_F(AttachmentsTest, AProgramMayGoOnAMomentAfterItsTerminalHungUp) {
  AttachProgram order = script("trap 'exit 0' HUP; echo up; while :; do sleep 0.02; done");
  order.terminal = true;
  open(1, order);
  ASSERT_TRUE(until([&] { return output(1) == "up\r\n"; }));
  attachments_->take({id_of(1), AttachClose{}});
  EXPECT_TRUE(until([&] { return attachments_->next_deadline() == Instant::never(); }))
      << "it ended by itself: the clock did not move";
}

TEST_F(AttachmentsTest, ARankThatHasNotStartedMayComeAndOneThatEndedDoesNot) {
  open(1, script("true"), 1);
  ASSERT_NE(last<AttachRefused>(1), nullptr);
  EXPECT_TRUE(last<AttachRefused>(1)->for_now);
  start_rank(1);
  open(1, script("exec sleep 600"), 1);
  EXPECT_NE(last<AttachOpened>(1), nullptr);
  open(2, AttachSignal{SIGKILL}, 1);
  ASSERT_TRUE(until([&] { return !ranks_[1].lives; }));
  EXPECT_EQ(last<AttachEnd>(2)->code, 0);
  open(3, script("true"), 1);
  EXPECT_EQ(last<AttachRefused>(3)->message, "rank 1 has ended");
  open(4, AttachSignal{SIGUSR1}, 2);
  EXPECT_NE(last<AttachRefused>(4), nullptr);
}

TEST_F(AttachmentsTest, AnotherAttemptsOpeningIsRefused) {
  AttachOpen other;
  other.job = JobId("job");
  other.attempt = {JobId("job"), 2};
  other.order = script("true");
  attachments_->take({id_of(1), other});
  ASSERT_NE(last<AttachRefused>(1), nullptr);
  AttachOpen continued;
  continued.job = JobId("job");
  continued.attempt = {JobId("job"), 1};
  continued.order = script("true");
  continued.have_output = 10;
  attachments_->take({id_of(2), continued});
  EXPECT_FALSE(last<AttachRefused>(2)->for_now) << "it is not here any more";
}

TEST_F(AttachmentsTest, FramesOfNobodyAreDropped) {
  for (const AttachBody& body :
       {AttachBody(AttachAlive{}), AttachBody(AttachResize{}), AttachBody(AttachNotify{9}),
        AttachBody(AttachData{AttachStream::input, 0, "x", true}),
        AttachBody(AttachTaken{AttachStream::output, 5})})
    attachments_->take({id_of(1), body});
  EXPECT_TRUE(sent_.empty());
  attachments_->take({id_of(1), AttachClose{}});
  open(1, script("true"));
  EXPECT_NE(last<AttachRefused>(1), nullptr) << "it was closed before it was opened";
}

TEST_F(AttachmentsTest, APartHasSoManyAndNoMore) {
  const int most = static_cast<int>(kMaxAttachmentsOfPart);
  for (int i = 0; i < most; ++i) open(i, AttachSignal{SIGCONT});
  EXPECT_NE(last<AttachEnd>(most - 1), nullptr);
  open(100, script("true"));
  ASSERT_NE(last<AttachRefused>(100), nullptr);
  attachments_->take({id_of(0), AttachClose{}});
  open(100, script("true"));
  EXPECT_NE(last<AttachOpened>(100), nullptr);
}

TEST_F(AttachmentsTest, AClientThatDoesNotReadStopsItsProgramAlone) {
  open(1, script("yes"));
  open(2, script("sleep 0.1; echo two"));
  ASSERT_TRUE(is_told_end(2));
  EXPECT_LE(output(1).size(), kAttachWindow);
  attachments_->end_all("over");
  ASSERT_TRUE(until([&] {
    attachments_->take({id_of(1), AttachTaken{AttachStream::output, output(1).size()}});
    return last<AttachEnd>(1) != nullptr;
  }));
  EXPECT_EQ(last<AttachEnd>(1)->message, "over");
}

TEST_F(AttachmentsTest, TheEndOfSpawnEndsThem) {
  open(1, script("echo up; exec sleep 600"));
  ASSERT_TRUE(until([&] { return output(1) == "up\n"; }));
  kill(client_->pid(), SIGKILL);
  ASSERT_TRUE(until([&] { return is_lost_; }));
  attachments_->spawn_lost();
  ASSERT_TRUE(is_told_end(1));
  EXPECT_EQ(last<AttachEnd>(1)->code, kAttachFailed);
}

TEST_F(AttachmentsTest, BadOrdersAreRefused) {
  AttachProgram order = script("true");
  order.term = "../../etc/passwd";
  open(1, order);
  EXPECT_NE(last<AttachRefused>(1), nullptr);
  open(2, AttachSignal{65});
  EXPECT_NE(last<AttachRefused>(2), nullptr);
  open(3, AttachMain{});
  EXPECT_NE(last<AttachRefused>(3), nullptr);
}

}  // namespace
}  // namespace lockstep::runner::testing
