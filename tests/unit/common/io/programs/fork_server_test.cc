#include "common/io/programs/fork_server.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <set>
#include <thread>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kLongest = 300;

class ForkServerTest : public testing::Test {
 protected:
  void SetUp() override { start_server(seconds(30)); }
  void start_server(Duration timeout) {
    DetachedStart start;
    start.program = FORKED_PROGRAM;
    start.arguments = {"forked-template", "--template"};
    start.environment = {{"GREETING", "hello"}, {"SETTLED_IN", dir_.path()}};
    auto server = ForkServer::start(start, kLongest, timeout);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  void TearDown() override {
    for (const ProcessIdentity& who : forked_) (void)signal_process(who, SIGKILL);
    if (server_) (void)signal_process(server_->identity(), SIGKILL);
  }
  // `what`: see forked_program.cc.
  Result<ProcessIdentity> fork(const std::string& what) {
    auto forked = server_->fork({{"forked", what, dir_.path()}, dir_ / "log"});
    if (forked) forked_.push_back(*forked);
    return forked;
  }
  bool wait_until(const std::function<bool()>& condition) {
    EventLoop loop;
    return turn_until(loop, condition);
  }
  // The process that waits for the next order.
  std::optional<ProcessIdentity> spare() const {
    return process_identity_from(read_file(dir_ / "settled").value_or(""));
  }
  std::string log() const { return read_file(dir_ / "log").value_or(""); }

  const TempDir dir_;
  std::unique_ptr<ForkServer> server_;
  std::vector<ProcessIdentity> forked_;
};

TEST_F(ForkServerTest, AForkedProcessIsAsOneThatWasStartedDetached) {
  const auto forked = fork("tell");
  ASSERT_TRUE(forked) << forked.error().message;
  EXPECT_TRUE(wait_until([&] { return log().find("end\n") != std::string::npos; }));
  EXPECT_EQ(log(),
            "hello of /\nleads its session: 1\nsignal of a child: default\nstdin: 0\n"
            "descriptors: 0 1 2\nerror goes there too\nend\n");
  EXPECT_EQ(read_file(dir_ / "prepared").value_or(""), to_text(*forked));
  EXPECT_TRUE(wait_until([&] { return !identify(forked->pid); })) << "no zombie is left";
}

TEST_F(ForkServerTest, ItsCommandLineIsWhatWasOrdered) {
  const auto forked = fork("wait");
  ASSERT_TRUE(forked);
  const std::string proc = "/proc/" + std::to_string(forked->pid);
  const auto line = read_file(proc + "/cmdline").value_or("");
  const std::string wanted = std::string("forked") + '\0' + "wait" + '\0' + dir_.path() + '\0';
  EXPECT_EQ(line.substr(0, wanted.size()), wanted);
  EXPECT_EQ(line.find_first_not_of('\0', wanted.size()), std::string::npos);
}

TEST_F(ForkServerTest, ACommandLineWithoutRoomIsRefused) {
  const auto forked = fork(std::string(kLongest + 100, 'x'));
  ASSERT_FALSE(forked);
  EXPECT_NE(forked.error().message.find("no room"), std::string::npos) << forked.error().message;
  EXPECT_FALSE(exists(dir_ / "prepared"));
  EXPECT_TRUE(fork("wait")) << "the server goes on";
}

TEST_F(ForkServerTest, AnErrorOfThePreparationIsTheOrders) {
  const auto forked = fork("refuse");
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::io);
  EXPECT_EQ(forked.error().message, "refused, as ordered");
  EXPECT_FALSE(exists(dir_ / "log"));
}

TEST_F(ForkServerTest, ALogThatCannotBeOpenedIsNamed) {
  const auto forked = server_->fork({{"forked", "wait", dir_.path()}, dir_ / "no/log"});
  ASSERT_FALSE(forked);
  EXPECT_NE(forked.error().message.find("no/log"), std::string::npos) << forked.error().message;
}

TEST_F(ForkServerTest, ForkedProcessesOutliveTheServerAndItsHolder) {
  const auto first = fork("wait");
  ASSERT_TRUE(first);
  const ProcessIdentity server = server_->identity();
  ASSERT_TRUE(signal_process(server, SIGKILL));
  EXPECT_TRUE(wait_until([&] { return !is_alive(server); }));
  EXPECT_TRUE(is_alive(*first));
}

TEST_F(ForkServerTest, TheServerEndsWithItsHolder) {
  const auto forked = fork("wait");
  ASSERT_TRUE(forked);
  const ProcessIdentity server = server_->identity();
  server_.reset();
  EXPECT_TRUE(wait_until([&] { return !is_alive(server); }));
  EXPECT_TRUE(is_alive(*forked)) << "it does not hold the server's socket, or the server its own";
}

TEST_F(ForkServerTest, ADeadServerIsUnavailableAndRunsNothing) {
  ASSERT_TRUE(signal_process(server_->identity(), SIGKILL));
  EXPECT_TRUE(wait_until([&] { return !is_alive(server_->identity()); }));
  const auto forked = fork("wait");
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::unavailable);
}

TEST_F(ForkServerTest, OneThatHangsIsUnavailableAndRunsNothingLater) {
  start_server(milliseconds(200));
  ASSERT_TRUE(signal_process(server_->identity(), SIGSTOP));
  const auto forked = fork("wait");
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::unavailable);
  ASSERT_TRUE(signal_process(server_->identity(), SIGCONT));
  EXPECT_TRUE(wait_until([&] { return exists(dir_ / "prepared"); }));
  const auto late = process_identity_from(read_file(dir_ / "prepared").value_or(""));
  ASSERT_TRUE(late);
  EXPECT_TRUE(wait_until([&] { return !is_alive(*late); })) << "nobody told it to go on";
  EXPECT_FALSE(exists(dir_ / "log"));
}

// The new process is there, and nobody knows of it yet.
TEST_F(ForkServerTest, WhenTheServerDiesWhileOneIsPreparedThatOneIsStillHeard) {
  std::optional<Result<ProcessIdentity>> forked;
  std::thread orderer([&] { forked.emplace(fork("prepare slowly")); });
  EXPECT_TRUE(wait_until([&] { return exists(dir_ / "preparing"); }));
  EXPECT_TRUE(signal_process(server_->identity(), SIGKILL));
  EXPECT_TRUE(wait_until([&] { return !is_alive(server_->identity()); }));
  EXPECT_TRUE(write_file_atomically(dir_ / "go", ""));
  orderer.join();
  ASSERT_TRUE(*forked) << forked->error().message;
  EXPECT_TRUE(is_alive(**forked));
}

TEST_F(ForkServerTest, WhenOnePreparedDiesNothingRuns) {
  const auto forked = fork("die");
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(exists(dir_ / "log"));
}

TEST_F(ForkServerTest, TheNextOrdersProcessIsThereBeforeIt) {
  ASSERT_TRUE(wait_until([&] { return spare().has_value(); }));
  const auto settled = spare();
  const auto forked = fork("wait");
  ASSERT_TRUE(forked);
  EXPECT_EQ(forked->pid, settled->pid);
  EXPECT_TRUE(wait_until([&] { return spare() && spare()->pid != settled->pid; })) << "another one";
}

TEST_F(ForkServerTest, AnotherOneIsForkedWhenTheNextOrdersProcessWasKilled) {
  ASSERT_TRUE(wait_until([&] { return spare().has_value(); }));
  const auto killed = spare();
  ASSERT_TRUE(signal_process(*killed, SIGKILL));
  // With all its threads, which share its descriptors: ThreadSanitizer has one of its own.
  ASSERT_TRUE(wait_until([&] { return !exists("/proc/" + std::to_string(killed->pid)); }));
  const auto forked = fork("wait");
  ASSERT_TRUE(forked) << forked.error().message;
  EXPECT_TRUE(is_alive(*forked));
}

TEST_F(ForkServerTest, TheNextOrdersProcessEndsWithTheServer) {
  for (const bool is_killed : {false, true}) {
    SCOPED_TRACE(is_killed);
    if (is_killed) start_server(seconds(30));
    ASSERT_TRUE(wait_until([&] { return spare() && is_alive(*spare()); }));
    const auto waits = spare();
    if (is_killed) {
      ASSERT_TRUE(signal_process(server_->identity(), SIGKILL));
    }
    server_.reset();
    EXPECT_TRUE(wait_until([&] { return !is_alive(*waits); }));
    ASSERT_TRUE(remove_tree(dir_ / "settled"));
  }
}

TEST_F(ForkServerTest, ManyThreadsOrderAtOnce) {
  constexpr int kThreads = 4, kEach = 10;
  std::vector<std::thread> threads;
  std::vector<std::vector<ProcessIdentity>> got(kThreads);
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < kEach; ++n) {
        const std::string log = dir_ / ("log" + std::to_string(i * kEach + n));
        const auto forked = server_->fork({{"forked", "wait", dir_.path()}, log});
        if (forked) got[static_cast<std::size_t>(i)].push_back(*forked);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::set<int> pids;
  for (const auto& list : got)
    for (const ProcessIdentity& who : list) {
      EXPECT_TRUE(is_alive(who));
      pids.insert(who.pid);
      forked_.push_back(who);
    }
  EXPECT_EQ(pids.size(), static_cast<std::size_t>(kThreads * kEach));
}

}  // namespace
}  // namespace lockstep::io
