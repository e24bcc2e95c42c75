// A container's start and end as its runner sees them, with a script in the engine's place: who may
// connect, and what is told when nobody does.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "common/io/clock.h"
#include "runner/container/container.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

class ContainerProcessTest : public ::testing::Test {
 protected:
  ContainerProcessTest() : directory_(folder_.path() + "/job.1"), user_(*io::current_user()) {
    EXPECT_TRUE(io::make_directories(directory_.path()));
    plan_.container.engine = folder_.path() + "/engine";
    plan_.container.variables = {{"PATH", "/usr/bin:/bin"}};
    plan_.name = "the-container";
    plan_.socket = kSocketName;
  }
  // Its words are in $*.
  void engine(const std::string& script) {
    ASSERT_TRUE(
        io::write_file_atomically(plan_.container.engine, "#!/bin/sh\n" + script + "\n", 0755));
  }
  void start() {
    auto started = ContainerProcess::start(loop_, plan_, directory_, user_,
                                           {[this](io::Fd socket) { socket_ = std::move(socket); },
                                            [this](Cause cause, const std::string& why) {
                                              cause_ = cause;
                                              why_ = why;
                                            }});
    ASSERT_TRUE(started) << started.error().message;
    container_ = *std::move(started);
  }
  // As lockstep-spawn does; by another user where asked. The pid of who connected.
  pid_t connect(unsigned uid) {
    const pid_t child = fork();
    if (child != 0) return child;
    if (uid != geteuid() && setuid(uid) != 0) _exit(1);
    const io::Fd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (directory_.container() + "/" + kSocketName).c_str());
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(2);
    char byte = 0;
    _exit(recv(fd.get(), &byte, 1, 0) == 0 ? 0 : 3);  // until it is closed
  }
  static int exit_code_of(pid_t child) {
    int status = -1;
    EXPECT_TRUE(wait_until([&] { return waitpid(child, &status, WNOHANG) == child; }));
    return WEXITSTATUS(status);
  }
  bool told() {
    return turn_until(loop_, [&] { return !why_.empty(); });
  }

  TemporaryDirectory folder_;
  io::AttemptDir directory_;
  io::User user_;
  ContainerPlan plan_;
  io::EventLoop loop_;
  io::Fd socket_;
  Cause cause_ = Cause::completed;
  std::string why_;
  std::unique_ptr<ContainerProcess> container_;
};

TEST_F(ContainerProcessTest, WhoConnectsIsHandedOnAndTheListenerIsGone) {
  engine("exec sleep 1000");
  start();
  EXPECT_FALSE(container_->is_connected());
  const pid_t child = connect(geteuid());
  ASSERT_TRUE(turn_until(loop_, [&] { return static_cast<bool>(socket_); }));
  EXPECT_TRUE(container_->is_connected());
  EXPECT_EQ(container_->connect_by(), Instant::never());
  EXPECT_FALSE(io::exists(directory_.container() + "/" + kSocketName));
  socket_.reset();
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(ContainerProcessTest, AnotherUserIsNotLetInAndNamedWhenNobodyElseComes) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: only root can change ids";
  engine("while ! [ -e " + folder_.path() + "/end ]; do sleep 0.01; done");
  start();
  const pid_t stranger = connect(65533);
  int status = -1;
  ASSERT_TRUE(turn_until(loop_, [&] { return waitpid(stranger, &status, WNOHANG) == stranger; }));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "its connection was closed";
  EXPECT_FALSE(socket_);
  ASSERT_TRUE(io::write_file_atomically(folder_.path() + "/end", ""));
  ASSERT_TRUE(told());
  EXPECT_NE(why_.find("a process of uid 65533 connected instead of one of uid 0"),
            std::string::npos)
      << why_;
}

TEST_F(ContainerProcessTest, AnEngineThatFailsIsQuotedWithoutItsAdvice) {
  engine("echo 'docker: no such thing.' >&2; echo \"See 'docker run --help'.\" >&2; exit 125");
  start();
  ASSERT_TRUE(told());
  EXPECT_EQ(why_, "the container did not start: " + plan_.container.engine +
                      " ended with exit code 125: docker: no such thing.");
  EXPECT_EQ(io::read_file(directory_.container_log()).value_or("").substr(0, 8), "docker: ");
}

TEST_F(ContainerProcessTest, AnEngineThatRefusesTheJobsOwnWordsWillDoSoAgain) {
  engine(
      "echo 'docker: Error response from daemon: invalid CapDrop: unknown capability: \"CAP_X\".' "
      ">&2; "
      "echo; echo \"Run 'docker run --help' for more information\" >&2; exit 125");
  start();
  ASSERT_TRUE(told());
  EXPECT_EQ(cause_, Cause::start_failed) << "they are all ours: " << why_;
  why_.clear();
  plan_.arguments = {"--cap-drop", "X"};
  unlink(directory_.container_log().c_str());
  start();
  ASSERT_TRUE(told());
  EXPECT_EQ(cause_, Cause::environment_failed);
  EXPECT_EQ(
      why_,
      "the container engine refuses the job's resources.docker_args: " + plan_.container.engine +
          " ended with exit code 125: docker: Error response from daemon: invalid CapDrop: "
          "unknown capability: \"CAP_X\".");
}

TEST_F(ContainerProcessTest, ItMayTakeOnlySoLong) {
  engine("echo 'waiting for the disk'; exec sleep 1000");
  start();
  ASSERT_TRUE(
      wait_until([&] { return !io::read_file(directory_.container_log()).value_or("").empty(); }));
  const Instant deadline = container_->connect_by();
  container_->expire(deadline - milliseconds(1));
  EXPECT_EQ(why_, "");
  container_->expire(deadline);
  EXPECT_EQ(why_, "the container did not start within 2m00s: waiting for the disk");
  EXPECT_EQ(container_->connect_by(), Instant::never()) << "it is said once";
}

TEST_F(ContainerProcessTest, OneThatWasGivenUpIsRemovedAndSaysNothing) {
  const std::string pid = folder_.path() + "/pid";
  engine("if [ $1 = run ]; then echo $$ > " + pid + "; exec sleep 1000; fi; echo $* > " +
         folder_.path() + "/removed; kill $(cat " + pid + ")");
  start();
  ASSERT_TRUE(wait_until([&] { return !io::read_file(pid).value_or("").empty(); }));
  container_->give_up();
  io::SystemClock clock;
  ASSERT_TRUE(turn_until(loop_, [&] { return container_->has_ended(clock.now()); }));
  EXPECT_EQ(io::read_file(folder_.path() + "/removed").value_or(""), "rm --force the-container\n");
  EXPECT_EQ(why_, "");
}

TEST_F(ContainerProcessTest, ARemovalThatHangsIsGivenUp) {
  engine("exec sleep 1000");
  start();
  int removed = 0;
  container_->give_up();
  EXPECT_EQ(container_->next_deadline(), Instant::never());
  container_->remove([&] { ++removed; });
  const Instant deadline = container_->next_deadline();
  ASSERT_NE(deadline, Instant::never());
  container_->expire(deadline - milliseconds(1));
  EXPECT_EQ(removed, 0);
  container_->expire(deadline);
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(container_->next_deadline(), Instant::never());
  ASSERT_TRUE(turn_until(loop_, [&] { return !container_->is_removing(); })) << "it was killed";
  EXPECT_EQ(removed, 1) << "it is told once";
}

TEST_F(ContainerProcessTest, TheEngineSeesItsOwnVariablesAlone) {
  setenv("SECRET_OF_THE_AGENT", "1", 1);
  plan_.container.variables["MINE"] = "a b";
  engine("env; exit 1");
  start();
  ASSERT_TRUE(told());
  EXPECT_NE(why_.find("MINE=a b"), std::string::npos);
  EXPECT_EQ(why_.find("SECRET_OF_THE_AGENT"), std::string::npos);
}

TEST_F(ContainerProcessTest, AHomeBelongsToTheUserWithThePlacesOfMountsInIt) {
  if (running_as_root()) user_ = {"nobody", 65534, 65534, "/srv", "", {}};
  plan_.mounts = {{directory_.home(), "/srv"}, {directory_.tmp(), "/srv/a/b"}};
  engine("exit 1");
  start();
  for (const char* name : {"", "/a", "/a/b"}) {
    struct stat info {};
    ASSERT_EQ(stat((directory_.home() + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_uid, user_.uid) << name;
  }
}

}  // namespace
}  // namespace lockstep::runner::testing
