// lockstep-spawn as a container's first process, without the container: it connects to its runner,
// and says what an image can do.

#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "common/io/programs/run_program.h"
#include "runner/spawn/client.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

const std::string kSpawn = std::string(LOCKSTEP_BIN_DIR) + "/lockstep-spawn";

class SpawnConnectTest : public ::testing::Test {
 protected:
  SpawnConnectTest()
      : path_(folder_.path() + "/socket"),
        listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)),
        client_(spawn::Client::expect(
            loop_,
            {[this](int id, int) { started_[id] = true; }, [](int, int, spawn::SpawnStage) {},
             [this](int id, int status, const spawn::Spent&) { exits_[id] = status; },
             [this] { is_empty_ = true; }, [this] { is_lost_ = true; }})) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
  }
  ~SpawnConnectTest() override {
    client_.reset();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  void start_spawn() {
    pid_ = fork();
    if (pid_ != 0) return;
    execl(kSpawn.c_str(), "lockstep-spawn", "--connect", path_.c_str(), nullptr);
    _exit(98);
  }
  void accept_it() { client_->connect(io::Fd(accept(listener_.get(), nullptr, nullptr))); }
  void order(int id, const std::string& script) {
    spawn::RankProcess rank;
    rank.program = "/bin/sh";
    rank.argv = {"sh", "-c", script};
    rank.environment = {{"PATH", "/usr/bin:/bin"}};
    const io::Fd null = *io::open_file("/dev/null", 0);
    ASSERT_TRUE(client_->start(id, rank, null.get(), out_.writer(), out_.writer()));
  }

  TemporaryDirectory folder_;
  std::string path_;
  io::Fd listener_;
  io::EventLoop loop_;
  Pipe out_;
  std::map<int, bool> started_;
  std::map<int, int> exits_;
  bool is_empty_ = false, is_lost_ = false;
  std::unique_ptr<spawn::Client> client_;
  pid_t pid_ = -1;
};

TEST_F(SpawnConnectTest, OrdersOfBeforeAreCarriedOutInTheirOrder) {
  order(0, "echo one; exit 3");
  order(1, "trap '' TERM; while :; do sleep 1; done");
  client_->kill_all();
  start_spawn();
  accept_it();
  ASSERT_TRUE(turn_until(loop_, [&] { return is_empty_ && exits_.size() == 2; }));
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGKILL);
  order(2, "echo after; exit 4");
  ASSERT_TRUE(turn_until(loop_, [&] { return exits_.count(2) != 0; }));
  EXPECT_EQ(WEXITSTATUS(exits_[2]), 4);
}

// As that of a container which is frozen: its socket takes only so much.
TEST_F(SpawnConnectTest, OneThatTakesNothingHoldsUpNobodyAndGetsAllOfItLater) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const io::Fd frozen(ends[1]);
  client_->connect(io::Fd(ends[0]));
  const int orders = 5'000;
  for (int i = 0; i < orders; ++i) client_->signal_all(i % 2 == 0 ? SIGTERM : SIGUSR1);
  for (int i = 0; i < orders; ++i) {
    spawn::Header header;
    ASSERT_TRUE(turn_until(loop_, [&] {
      return recv(frozen.get(), &header, sizeof header, MSG_DONTWAIT) == sizeof header;
    }));
    ASSERT_EQ(header.value, i % 2 == 0 ? SIGTERM : SIGUSR1) << i;
  }
  EXPECT_FALSE(is_lost_);
}

TEST_F(SpawnConnectTest, ItEndsWithTheSocketAndAllItStartedWithIt) {
  start_spawn();
  accept_it();
  order(0, "(setsid sh -c \"trap '' TERM HUP; echo up; while read x < /dev/zero; do :; done\" &)");
  ASSERT_EQ(out_.read_line(), "up\n");
  client_.reset();
  int status = -1;
  EXPECT_TRUE(wait_until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }));
  pid_ = -1;
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(out_.read_to_end()) << "the daemon held the pipe";
}

TEST_F(SpawnConnectTest, WhenItDiesThatIsTold) {
  start_spawn();
  accept_it();
  order(0, "sleep 1000");
  ASSERT_TRUE(turn_until(loop_, [&] { return started_[0]; }));
  kill(pid_, SIGKILL);
  EXPECT_TRUE(turn_until(loop_, [&] { return is_lost_; }));
}

TEST_F(SpawnConnectTest, WithoutARunnerItSaysSo) {
  unlink(path_.c_str());
  const auto ran = io::run_program({kSpawn, "--connect", path_}, minutes(1));
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->exit_code, 125);
  EXPECT_EQ(ran->errors, "lockstep-spawn: cannot reach its runner at " + path_ +
                             ": No such file or directory\n");
}

TEST(SpawnProbeTest, ThisMachine) {
  const auto ran = io::run_program({kSpawn, "--probe"}, minutes(1));
  ASSERT_TRUE(ran) << ran.error().message;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  EXPECT_EQ(ran->text,
            std::string("bash ") + (access("/bin/bash", X_OK) == 0 ? "yes" : "no") +
                "\nsh yes\nglibc " + gnu_get_libc_version() + "\nmemlock " +
                (limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max)) +
                "\n");
}

}  // namespace
}  // namespace lockstep::runner::testing
