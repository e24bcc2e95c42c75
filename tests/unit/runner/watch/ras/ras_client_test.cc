// The connection to NCCL's RAS, with a server of this test's.

#include "runner/watch/ras/ras_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "common/io/clock.h"

namespace lockstep::runner {
namespace {

class FakeRas {
 public:
  explicit FakeRas(std::string answer) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), raw, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), raw, &size), 0);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const io::Fd client(::accept(listener_.get(), nullptr, nullptr));
      char buffer[512];
      while (asked.find("STATUS\n") == std::string::npos) {
        const ssize_t length = ::read(client.get(), buffer, sizeof buffer);
        if (length <= 0) return;
        asked.append(buffer, static_cast<std::size_t>(length));
      }
      EXPECT_TRUE(io::write_all(client.get(), answer));
    });
  }
  ~FakeRas() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  std::uint16_t port = 0;
  std::string asked;  // after join()

 private:
  io::Fd listener_;
  std::thread thread_;
};

TEST(RasClient, AsksAndTakesTheReport) {
  FakeRas ras("SERVER PROTOCOL 2\nOK\nERROR: x\nNCCL version 2.26.2\n");
  io::EventLoop loop;
  io::SystemClock clock;
  RasClient client(loop);
  std::optional<Result<RasReport>> told;
  client.ask(clock.now(), ras.port, [&](Result<RasReport> report) { told = std::move(report); });
  EXPECT_TRUE(client.is_asking());
  while (!told && clock.now() < client.next_deadline()) loop.turn(milliseconds(50));
  ras.join();
  ASSERT_TRUE(told);
  ASSERT_TRUE(*told) << told->error().message;
  EXPECT_EQ((**told).nccl_version, "2.26.2");
  EXPECT_TRUE(ras.asked.starts_with("CLIENT PROTOCOL"));
  EXPECT_FALSE(client.is_asking());
  EXPECT_EQ(client.next_deadline(), Instant::never());
}

TEST(RasClient, AnAnswerThatNeverComesIsGivenUp) {
  io::EventLoop loop;
  io::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), raw, size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), raw, &size), 0);
  RasClient client(loop);
  int answers = 0;
  client.ask(Instant{1}, ntohs(address.sin_port), [&](const Result<RasReport>& report) {
    ++answers;
    EXPECT_FALSE(report);
  });
  loop.turn(milliseconds(10));
  client.expire(Instant{1} + kRasTimeout - seconds(1));
  EXPECT_EQ(answers, 0);
  client.expire(Instant{1} + kRasTimeout);
  EXPECT_EQ(answers, 1);
  client.expire(Instant{1} + 2 * kRasTimeout);
  EXPECT_EQ(answers, 1);
}

TEST(RasClient, WhoIsNotThereRefuses) {
  std::uint16_t port = 0;
  {
    const FakeRas gone("");
    port = gone.port;
    const io::Fd end(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    ASSERT_EQ(::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  io::EventLoop loop;
  io::SystemClock clock;
  RasClient client(loop);
  bool told = false;
  client.ask(clock.now(), port, [&](const Result<RasReport>& report) {
    told = true;
    EXPECT_FALSE(report);
  });
  while (!told && client.is_asking()) {
    loop.turn(milliseconds(50));
    client.expire(clock.now());
  }
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace lockstep::runner
