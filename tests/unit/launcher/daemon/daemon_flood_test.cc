// A real lockstepd that is flooded: by connections that say nothing, by joins, by messages that are
// too large or too many. Everybody else is answered.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <sstream>

#include "common/domain/messages/client_limits.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/wire/join_token.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::HasSubstr;

constexpr int kRawConnections = 400;
constexpr int kFewDescriptors = 256;

int port_of(const std::string& endpoint) {
  return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
}

// Connected, and silent; from 127.0.0.`host`.
io::Fd raw_connection(int port, int host) {
  io::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto loopback = [](int last, int at) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(at));
    address.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(0x7f000000 + last));
    return address;
  };
  const sockaddr_in from = loopback(host, 0), to = loopback(1, port);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

class DaemonFlood : public testing::Test {
 protected:
  double cpu_seconds() const {
    std::string stat = io::read_file("/proc/" + std::to_string(daemon_.pid()) + "/stat").value();
    std::istringstream words(stat.substr(stat.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) words >> skipped;
    double user = 0, system = 0;
    words >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  long descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon_.pid()) + "/fd");
    return std::distance(begin(all), end(all));
  }
  void expect_at_ease(Peer& ann) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ann.ask(GetStatus{}, seconds(2))) << daemon_.log();
    io::SystemClock clock;
    const Instant begun = clock.now();
    const double used = cpu_seconds();
    ann.wait([] { return false; }, seconds(1));
    const double elapsed = static_cast<double>((clock.now() - begun).count()) / 1e9;
    EXPECT_LT((cpu_seconds() - used) / elapsed, 0.2) << "of a core";
    EXPECT_LT(descriptors(), kFewDescriptors - 16);
  }

  DaemonProcess daemon_;
  io::KeyPair user_ = test::authorized_user(daemon_);
};

TEST_F(DaemonFlood, SilentConnectionsFromTheUsersOwnAddressTakeNothingFromUsers) {
  daemon_.limit_open_files(kFewDescriptors);
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  std::vector<io::Fd> raw;
  for (int i = 0; i < kRawConnections; ++i)
    raw.push_back(raw_connection(port_of(daemon_.endpoint().local_control), 1));
  Peer ann(daemon_.endpoint(), user_);
  expect_at_ease(ann);
  EXPECT_TRUE(ann.ask_for<SubmitReply>(Submit{"s", small_job()})) << "the journal has its files";
}

TEST_F(DaemonFlood, SilentConnectionsFromManyAddressesTakeNothingFromUsers) {
  daemon_.limit_open_files(kFewDescriptors);
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer early(daemon_.endpoint(), user_);
  ASSERT_TRUE(early.ask_for<StatusReply>(GetStatus{}));
  std::vector<io::Fd> raw;
  for (int i = 0; i < kRawConnections; ++i) {
    const auto& at = daemon_.endpoint();
    const std::string& endpoint = i % 2 == 0 ? at.local_control : at.local_join;
    raw.push_back(raw_connection(port_of(endpoint), 2 + i % 100));
  }
  expect_at_ease(early);
  Peer late(daemon_.endpoint(), user_);
  expect_at_ease(late);
}

TEST_F(DaemonFlood, AKeyThatFloodsTheJoinPortKeepsNoNodeOut) {
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_);
  const auto reply = ann.ask_for<TokenReply>(CreateToken{minutes(5), 1});
  ASSERT_TRUE(reply);
  const auto token = wire::decode_join_token(reply->token);
  ASSERT_TRUE(token);
  Peer flooder(daemon_.endpoint());
  for (int i = 0; i < 2'000; ++i) flooder.send_join({"guess " + std::to_string(i), "n", "test"});
  Peer node(daemon_.endpoint());
  const auto joined = node.join({token->secret, "n1", "test"});
  ASSERT_TRUE(joined) << "one of the first answers: it asks once";
  EXPECT_TRUE(std::holds_alternative<JoinAccepted>(*joined));
}

TEST_F(DaemonFlood, AMessageOfAUserThatIsTooLargeIsRefusedWithBothSizes) {
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_);
  JobSpec job = small_job();
  job.description = std::string(kMaxUserMessageBytes, 'x');
  const auto refused = ann.ask_for<Refused>(Submit{"large", job});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::resource_exhausted);
  EXPECT_THAT(refused->message, HasSubstr(std::to_string(kMaxUserMessageBytes)));
  EXPECT_TRUE(ann.ask_for<StatusReply>(GetStatus{})) << "the connection is still there";
}

TEST_F(DaemonFlood, VariablesBeyondTheirBoundAreRefusedByName) {
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_);
  JobSpec job = small_job();
  for (int i = 0; i < 17; ++i)
    job.environment_variables["V" + std::to_string(i)] = std::string(1 << 16, 'x');
  const auto refused = ann.ask_for<Refused>(Submit{"large", job});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::resource_exhausted);
  EXPECT_THAT(refused->message, HasSubstr("environment_variables"));
  job.environment_variables.erase("V16");
  job.environment_variables.erase("V15");
  EXPECT_TRUE(ann.ask_for<SubmitReply>(Submit{"fits", job}));
}

TEST_F(DaemonFlood, AUserWhoAsksWithoutEndIsToldToAskLessAndOthersAreAnswered) {
  const auto bobs = test::authorized_user(daemon_, "bob");
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_), bob(daemon_.endpoint(), bobs);
  const int most = kUserMessagesPerSecond * kUserBurstSeconds;
  for (int i = 0; i < 4 * most; ++i) ann.send(ShowJob{JobId("nobody")});
  const auto refused = ann.next<Refused>(
      [](const Refused& reply) { return reply.code == ErrorCode::resource_exhausted; });
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, HasSubstr("ann"));
  EXPECT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
}

TEST_F(DaemonFlood, TheLimitIsOfAUserAndNotOfAKey) {
  const auto bobs = test::authorized_user(daemon_, "bob"),
             more = test::authorized_user(daemon_, "bob");
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_), bob(daemon_.endpoint(), bobs), too(daemon_.endpoint(), more);
  const int most = kUserMessagesPerSecond * kUserBurstSeconds;
  ASSERT_TRUE(too.ask_for<StatusReply>(GetStatus{}));
  for (int i = 0; i < 4 * most; ++i) bob.send(ShowJob{JobId("nobody")});
  ASSERT_TRUE(bob.next<Refused>(
      [](const Refused& reply) { return reply.code == ErrorCode::resource_exhausted; }));
  for (int i = 0; i < most / 2; ++i) too.send(WhoAmI{});
  const auto refused = too.next<Refused>([](const Refused&) { return true; });
  ASSERT_TRUE(refused) << "his other key has what this one left";
  EXPECT_THAT(refused->message, HasSubstr("user bob sends more than 200 requests a second"));
  EXPECT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
}

#ifndef LOCKSTEP_SANITIZED  // what a sanitizer holds back counts as RAM
// Bytes of RAM.
std::uint64_t resident(int pid) {
  std::istringstream words(io::read_file("/proc/" + std::to_string(pid) + "/statm").value());
  std::uint64_t pages = 0;
  words >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(DaemonFlood, ManyJobsWithLargeVariablesAreRefusedBeforeTheyFillTheMemory) {
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  const std::uint64_t before = resident(daemon_.pid());
  JobSpec job = small_job();
  for (int i = 0; i < 16; ++i)
    job.environment_variables["V" + std::to_string(i)] = std::string(62'000, 'x');
  int taken = 0;
  std::string refused;
  for (int i = 0; i < 120; ++i) {
    const auto reply = ann.ask(Submit{"large" + std::to_string(i), job});
    ASSERT_TRUE(reply);
    if (reply->get_if<SubmitReply>()) ++taken;
    if (const auto* why = reply->get_if<Refused>()) refused = why->message;
  }
  EXPECT_LT(taken, 40);
  EXPECT_THAT(refused, HasSubstr("lockstep job delete --all-final"));
  EXPECT_THAT(refused, HasSubstr("lockstep quota set --user ann --spec-size"));
  EXPECT_LT(resident(daemon_.pid()) - before, 96u << 20);
  EXPECT_TRUE(ann.ask_for<SubmitReply>(Submit{"small", small_job()}));
}

// A launcher that does not get on, as with a slow disk, and a user who sends what it does not read.
TEST_F(DaemonFlood, WhatWaitsUnreadOfAUserIsBoundedInBytes) {
  const auto bobs = test::authorized_user(daemon_, "bob");
  ASSERT_TRUE(daemon_.start({"--user-messages", "1000000"})) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_), bob(daemon_.endpoint(), bobs);
  ASSERT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  const std::uint64_t before = resident(daemon_.pid());
  std::uint64_t most = 0;
  const std::string junk(15 << 20, 'x');
  for (int i = 0; i < 40; ++i) {
    ann.send_raw(junk);
    most = std::max(most, resident(daemon_.pid()));
  }
  EXPECT_LT(most - before, 160u << 20);
  EXPECT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
}

// Sixty megabytes in one message: closed as soon as its length was read.
TEST_F(DaemonFlood, AHugeMessageTakesNoMemory) {
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_), again(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  const std::uint64_t before = resident(daemon_.pid());
  ann.send_raw(std::string(58u << 20, 'x'));
  ASSERT_TRUE(again.ask_for<StatusReply>(GetStatus{}));
  EXPECT_LT(resident(daemon_.pid()) - before, 32u << 20);
}

// Answers that nobody reads.
TEST_F(DaemonFlood, WhatAUserDoesNotReadIsBoundedInBytes) {
  const auto bobs = test::authorized_user(daemon_, "bob");
  ASSERT_TRUE(daemon_.start({"--user-messages", "1000000"})) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_), bob(daemon_.endpoint(), bobs);
  JobSpec job = small_job();
  for (int i = 0; i < 8; ++i)
    job.environment_variables["V" + std::to_string(i)] = std::string(62'000, 'x');
  for (int i = 0; i < 16; ++i)
    ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"large" + std::to_string(i), job}));
  const std::uint64_t before = resident(daemon_.pid());
  for (int i = 0; i < 100; ++i) ann.send(ListJobs{});  // 8 MB each, and it reads none
  ASSERT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
  ASSERT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
  EXPECT_LT(resident(daemon_.pid()) - before, 256u << 20);
}
#endif

TEST_F(DaemonFlood, AFloodOfWhatIsRefusedIsAFewLinesInTheLog) {
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  Peer ann(daemon_.endpoint(), user_);
  for (int i = 0; i < 900; ++i) ann.send_raw("no message");
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  const std::string log = daemon_.log();
  std::size_t lines = 0;
  for (auto at = log.find("was refused"); at != std::string::npos;
       at = log.find("was refused", at + 1))
    ++lines;
  EXPECT_GT(lines, 0U);
  EXPECT_LT(lines, 100U);
}

}  // namespace
}  // namespace lockstep
