#include "runner/spawn/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace lockstep::spawn {
namespace {

using std::chrono::steady_clock;

// A process in a group of its own that handles SIGUSR1, and a child of it that a fork has made.
class FamilyThatHandles {
 public:
  FamilyThatHandles() {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    parent_ = fork();
    if (parent_ == 0) run(ready[1]);
    close(ready[1]);
    EXPECT_EQ(read(ready[0], &child_, sizeof child_), static_cast<ssize_t>(sizeof child_));
    close(ready[0]);
  }
  ~FamilyThatHandles() {
    if (parent_ <= 0) return;
    kill(-parent_, SIGKILL);
    waitpid(parent_, nullptr, 0);
  }
  bool told(pid_t pid) const {
    const std::vector<int> found = handlers_in_group(parent_, SIGUSR1);
    return std::find(found.begin(), found.end(), pid) != found.end();
  }
  pid_t parent() const { return parent_; }
  pid_t child() const { return child_; }

 private:
  [[noreturn]] static void run(int ready) {
    setpgid(0, 0);
    signal(SIGUSR1, [](int) {});
    pid_t child = fork();
    if (child != 0 && write(ready, &child, sizeof child) < 0) _exit(1);
    while (true) pause();
  }

  pid_t parent_ = -1;
  pid_t child_ = -1;
};

TEST(SweepTest, WhoWasJustForkedIsNotYetAHandler) {
  const auto began = steady_clock::now();
  const FamilyThatHandles family;
  while (true) {
    const bool told = family.told(family.child());
    if (steady_clock::now() - began > std::chrono::milliseconds(900)) break;
    ASSERT_FALSE(told) << "it may be about to execute a program";
  }
  const auto deadline = began + std::chrono::seconds(30);
  while (!family.told(family.child()) && steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(family.told(family.child())) << "a worker that never executes is one in the end";
  EXPECT_TRUE(family.told(family.parent()));
}

}  // namespace
}  // namespace lockstep::spawn
