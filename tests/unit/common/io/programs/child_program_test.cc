#include "common/io/programs/child_program.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/io/process.h"
#include "common/io/programs/run_program.h"
#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

Result<ChildProgram> begin_script(const std::string& script, int input = -1) {
  return ChildProgram::start({"/bin/sh", "-c", script}, input);
}
// What comes until the end of the pipe.
std::string all_of(int fd) {
  std::string text;
  char buffer[256];
  for (pollfd item{fd, POLLIN, 0}; ::poll(&item, 1, 20'000) == 1;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}
ChildProgram::End end_of(ChildProgram& program) {
  pollfd item{program.ended(), POLLIN, 0};
  EXPECT_EQ(::poll(&item, 1, 20'000), 1);
  const auto end = program.reap();
  EXPECT_TRUE(end);
  return end.value_or(ChildProgram::End{});
}
bool is_gone_soon(int pid) {
  for (int i = 0; i < 4'000; ++i) {
    const auto who = identify(pid);
    if (!who || !is_alive(*who)) return true;
    ::usleep(5'000);
  }
  return false;
}

TEST(ChildProgram, ItsOutputAndEnd) {
  const auto input = memory_file("given");
  auto program = begin_script("cat; echo err >&2; exit 3", input->get());
  ASSERT_TRUE(program);
  EXPECT_EQ(all_of(program->output()), "given");
  EXPECT_EQ(all_of(program->errors()), "err\n");
  const auto end = end_of(*program);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_FALSE(program->reap());
}

TEST(ChildProgram, ASignalReachesItsChildren) {
  auto program = begin_script("sleep 1000 & echo $!; wait");
  ASSERT_TRUE(program);
  std::string text;
  for (char c = 0; c != '\n'; text += c) {
    pollfd item{program->output(), POLLIN, 0};
    ASSERT_EQ(::poll(&item, 1, 20'000), 1);
    ASSERT_EQ(::read(program->output(), &c, 1), 1);
  }
  EXPECT_FALSE(program->reap());
  program->signal(SIGTERM);
  EXPECT_EQ(end_of(*program).signal, SIGTERM);
  EXPECT_TRUE(is_gone_soon(std::stoi(text)));
}

TEST(ChildProgram, WhatIsLeftOfItsGroupEndsWithIt) {
  auto program = begin_script("sleep 1000 >/dev/null 2>&1 & echo $!");
  ASSERT_TRUE(program);
  const int child = std::stoi(all_of(program->output()));
  EXPECT_EQ(end_of(*program).exit_code, 0);
  EXPECT_TRUE(is_gone_soon(child));
}

TEST(ChildProgram, TheDestructorKillsIt) {
  int pid = 0;
  {
    auto program = begin_script("trap '' TERM; sleep 1000");
    ASSERT_TRUE(program);
    pid = program->pid();
  }
  EXPECT_FALSE(identify(pid));
}

TEST(ChildProgram, ItDiesWithTheProcessThatStartedIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    auto program = ChildProgram::start({"/bin/sleep", "1000"}, -1);
    const int pid = program ? program->pid() : 0;
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    ::pause();
  }
  int pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(identify(pid));
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  EXPECT_TRUE(is_gone_soon(pid));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ChildProgram, WhatCannotBeExecutedSaysWhy) {
  auto program = ChildProgram::start({"/nowhere/program"}, -1);
  ASSERT_TRUE(program);
  EXPECT_EQ(all_of(program->errors()),
            "cannot execute /nowhere/program: No such file or directory");
  EXPECT_EQ(end_of(*program).exit_code, 127);
}

TEST(ChildProgram, ARunProgramMayDieWithUs) {
  ProgramOptions options{seconds(20)};
  options.dies_with_us = true;
  const auto done = run_program({"sh", "-c", "echo $PPID"}, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, std::to_string(::getpid()) + "\n");
}

}  // namespace
}  // namespace lockstep::io
