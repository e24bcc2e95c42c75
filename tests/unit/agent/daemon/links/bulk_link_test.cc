#include "agent/daemon/links/bulk_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include "common/wire/messages/bulk.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

class ManualClock final : public io::Clock {
 public:
  Instant now() override { return now_; }
  void pass(Duration duration) { now_ = now_ + duration; }

 private:
  Instant now_{1'000'000'000};
};

// A launcher's bulk socket that lets keys in or not, and a link to it.
class BulkLinkTest : public testing::Test {
 protected:
  BulkLinkTest() : directory_(dir_ / "job.1") {
    EXPECT_TRUE(io::make_directories(directory_.logs()));
    auto bound = io::ServerSocket::bind(transport_, "tcp://127.0.0.1:*", "bulk", launcher_keys_);
    EXPECT_TRUE(bound);
    server_.emplace(*std::move(bound));
    loop_.watch_socket(server_->handle(), [this] { receive(); });
    link_.emplace(
        loop_, transport_, clock_,
        BulkLink::Peer{server_->endpoint(), launcher_keys_.public_key, io::generate_key_pair()},
        NodeId(1), [](const AttemptId&, const std::vector<LogSize>&) {});
  }
  ~BulkLinkTest() override { loop_.unwatch_socket(server_->handle()); }

  void receive() {
    while (auto got = server_->receive()) {
      const auto envelope = wire::decode_bulk(got->bytes);
      ASSERT_TRUE(envelope) << envelope.error().message;
      const auto reply = [&](BulkMessage body) {
        const BulkEnvelope sent{wire::kBulkVersion, ++sequence_, envelope->sequence,
                                std::move(body)};
        EXPECT_TRUE(server_->send(got->peer, wire::encode(sent)));
      };
      if (const auto* resume = std::get_if<LogResume>(&envelope->body))
        for (const LogKey& key : resume->keys) reply(LogAck{key, log_.size()});
      const auto* append = std::get_if<LogAppend>(&envelope->body);
      if (append == nullptr) continue;
      if (refuses_) {
        ++refused_;
        reply(BulkRefused{"the disk is full", true, true});
      } else {
        log_ += append->data;
      }
    }
  }
  bool turn_until_so(const std::function<bool()>& condition) {
    return turn_until(
        [this] {
          loop_.turn(milliseconds(5));
          link_->tick(clock_.now());
        },
        condition);
  }
  bool refused_for_the(int time) {
    return turn_until_so([this, time] {
      return knocks_ == time && link_->next_deadline() == clock_.now() + kRedialRefusedAfter;
    });
  }

  TempDir dir_;
  io::AttemptDir directory_;
  io::EventLoop loop_;
  bool authorised_ = false;
  int knocks_ = 0;
  io::Transport transport_{loop_, [this](const std::string&, const PublicKey&) {
                             ++knocks_;
                             return authorised_;
                           }};
  ManualClock clock_;
  const io::KeyPair launcher_keys_ = io::generate_key_pair();
  std::optional<io::ServerSocket> server_;
  std::optional<BulkLink> link_;
  std::string log_;
  bool refuses_ = false;  // all logs, for lack of space
  int refused_ = 0;
  std::uint64_t sequence_ = 0;
};

// libzmq does not dial again after a refusal, and nothing is sent over a link that never came up.
TEST_F(BulkLinkTest, IsDialledAgainWhenItsKeyWasRefusedAndThenAuthorised) {
  const auto file = io::open_file(directory_.log(0, LogStream::out), O_WRONLY | O_CREAT);
  ASSERT_TRUE(file);
  ASSERT_TRUE(io::write_all(file->get(), "epoch 1\n"));
  link_->ship({JobId("job"), 1}, directory_, false);
  ASSERT_TRUE(refused_for_the(1));
  clock_.pass(kRedialRefusedAfter);
  ASSERT_TRUE(refused_for_the(2));

  authorised_ = true;
  clock_.pass(kRedialRefusedAfter);
  EXPECT_TRUE(turn_until_so([this] { return log_ == "epoch 1\n"; }));
  EXPECT_EQ(knocks_, 3);
}

TEST_F(BulkLinkTest, ARefusalThatGoesOnIsSaidOnceAndTheLogsComeWhenItIsOver) {
  authorised_ = true;
  refuses_ = true;
  const auto file = io::open_file(directory_.log(0, LogStream::out), O_WRONLY | O_CREAT);
  ASSERT_TRUE(file);
  ASSERT_TRUE(io::write_all(file->get(), "epoch 1\n"));
  link_->ship({JobId("job"), 1}, directory_, false);
  const auto lines = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", lines));
  const auto as_time_passes = [this](const std::function<bool()>& condition) {
    return turn_until(
        [this] {
          clock_.pass(milliseconds(20));
          loop_.turn(milliseconds(5));
          link_->tick(clock_.now());
        },
        condition);
  };
  EXPECT_TRUE(as_time_passes([this] { return refused_ == 5; })) << refused_;
  refuses_ = false;
  EXPECT_TRUE(as_time_passes([this] { return log_ == "epoch 1\n"; }));
  spdlog::set_default_logger(before);
  int said = 0;
  for (const std::string& line : lines->last_formatted())
    if (line.find("the disk is full") != std::string::npos) ++said;
  EXPECT_EQ(said, 1);
}

TEST_F(BulkLinkTest, WithNothingToShipIsNotDialledForEver) {
  link_->open();
  const Instant opened = clock_.now();
  for (int knock = 1; clock_.now() - opened < seconds(60); ++knock) {
    ASSERT_TRUE(refused_for_the(knock)) << "at the " << knock << "th";
    clock_.pass(kRedialRefusedAfter);
  }
  EXPECT_TRUE(turn_until_so([this] { return link_->next_deadline() == Instant::never(); }));
}

}  // namespace
}  // namespace lockstep::agent
