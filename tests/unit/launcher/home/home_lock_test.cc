// Who holds a home is refused at once while he lives; one that was killed is waited for.

#include "launcher/home/home_lock.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "common/io/process.h"
#include "launcher/home/start_record.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

class HomeLock : public testing::Test {
 protected:
  HomeLock() {
    EXPECT_EQ(pipe(said_), 0);
    EXPECT_EQ(pipe(told_), 0);
  }
  ~HomeLock() override {
    for (const int fd : {said_[0], said_[1], told_[0], told_[1]}) close(fd);
    if (holder_ > 0) kill(holder_, SIGKILL);
    if (holder_ > 0) waitpid(holder_, nullptr, 0);
  }

  // A process that has the home while `after` goes on, which reads from told_ when it may end.
  void hold(const std::function<void()>& after) {
    holder_ = fork();
    if (holder_ != 0) {
      char byte = 0;
      ASSERT_EQ(::read(said_[0], &byte, 1), 1);
      return;
    }
    const auto lock = lock_home(home_);
    if (!lock || ::write(said_[1], "x", 1) != 1) _exit(1);
    after();
    _exit(0);
  }
  void wait_to_be_told() const {
    char byte = 0;
    (void)!::read(told_[0], &byte, 1);
  }
  void tell() { ASSERT_EQ(::write(told_[1], "x", 1), 1); }
  bool is_zombie() const {
    const auto stat = io::read_file("/proc/" + std::to_string(holder_) + "/stat");
    return stat && stat->find(") Z ") != stat->npos;
  }

  const test::TempDir dir_;
  const LauncherHome home_{dir_.path()};
  int said_[2] = {-1, -1}, told_[2] = {-1, -1};
  pid_t holder_ = 0;
};

TEST_F(HomeLock, AHolderThatLivesIsNamedAtOnce) {
  hold([this] { wait_to_be_told(); });
  const auto refused = lock_home(home_, minutes(60));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("(pid " + std::to_string(holder_) + ")"));
  EXPECT_THAT(refused.error().message, HasSubstr("lockstep down"));
}

TEST_F(HomeLock, TheAdviceIsTheCommandOfWhoStartedTheHolder) {
  hold([this] { wait_to_be_told(); });
  const auto advice = [&](bool by_lockstep) {
    const StartRecord record{by_lockstep, {"lockstepd", "--home", home_.path()}, "then", ""};
    EXPECT_TRUE(write_start_record(home_.started(), record));
    const auto refused = lock_home(home_, minutes(60));
    return refused ? std::string("the lock was free") : refused.error().message;
  };
  EXPECT_THAT(advice(true), HasSubstr("end it with `lockstep down`,"));
  EXPECT_THAT(advice(false), HasSubstr("end it with `kill " + std::to_string(holder_) + "`,"));
  EXPECT_THAT(advice(false), Not(HasSubstr("lockstep down")));
}

// As after a kill while a thread waits for the disk: the process is a zombie, and holds its locks.
TEST_F(HomeLock, OneThatWasKilledIsWaitedFor) {
  hold([this] {
    std::thread([this] {
      wait_to_be_told();
      _exit(0);
    }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone, and nothing is unwound
  });
  while (!is_zombie()) std::this_thread::yield();
  const auto early = lock_home(home_, milliseconds(30));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::conflict);
  EXPECT_THAT(early.error().message, HasSubstr("has ended"));
  tell();
  const auto lock = lock_home(home_, minutes(60));
  EXPECT_TRUE(lock) << lock.error().message;
}

TEST_F(HomeLock, OneThatEndedLeavesItFree) {
  hold([] {});
  ASSERT_EQ(waitpid(holder_, nullptr, 0), holder_);
  holder_ = 0;
  EXPECT_TRUE(lock_home(home_, Duration::zero()));
}

}  // namespace
}  // namespace lockstep::launcher
