// What an attached program has of its rank, and its standard streams.

#include "runner/attach/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

namespace lockstep::runner {
namespace {

spawn::RankProcess a_rank() {
  spawn::RankProcess rank;
  rank.program = "python3";
  rank.path = "/env/bin:/usr/bin";
  rank.cwd = "/work";
  rank.argv = {"python3", "train.py"};
  rank.environment = {{"PATH", "/env/bin:/usr/bin"},
                      {"PMIX_RANK", "3"},
                      {"PMIX_NAMESPACE", "ns"},
                      {"PMIX_SERVER_URI41", "x"},
                      {"PMI_FD", "20"},
                      {"PMI_RANK", "3"},
                      {"PMIX_MCA_gds", "hash"},
                      {"OMPI_COMM_WORLD_RANK", "3"},
                      {"TERM", "dumb"},
                      {"RANK", "3"}};
  rank.cgroup_procs = {"/sys/fs/cgroup/x/cgroup.procs"};
  rank.cpus = {1, 2};
  rank.set_ids = true;
  rank.uid = 1000;
  return rank;
}

TEST(AttachedProcess, IsTheRankWithAnotherCommand) {
  AttachProgram order;
  order.argv = {"nvidia-smi", "-l"};
  order.term = "xterm-256color";
  const auto process = attached_process(order, a_rank(), "/bin/bash");
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(process->program, "nvidia-smi");
  EXPECT_EQ(process->argv, order.argv);
  const spawn::RankProcess rank = a_rank();
  EXPECT_EQ(process->cwd, rank.cwd);
  EXPECT_EQ(process->path, rank.path);
  EXPECT_EQ(process->cgroup_procs, rank.cgroup_procs);
  EXPECT_EQ(process->cpus, rank.cpus);
  EXPECT_EQ(process->uid, rank.uid);
  const std::map<std::string, std::string> wanted = {{"PATH", "/env/bin:/usr/bin"},
                                                     {"PMIX_MCA_gds", "hash"},
                                                     {"OMPI_COMM_WORLD_RANK", "3"},
                                                     {"TERM", "xterm-256color"},
                                                     {"RANK", "3"}};
  EXPECT_EQ(process->environment, wanted) << "it is no rank to MPI";
}

TEST(AttachedProcess, WithoutACommandItIsTheShell) {
  const auto process = attached_process({}, a_rank(), "/bin/bash");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->program, "/bin/bash");
  EXPECT_EQ(process->argv, std::vector<std::string>{"/bin/bash"});
  EXPECT_EQ(process->environment.count("TERM"), 0u);
  const auto none = attached_process({}, a_rank(), "");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no shell"), std::string::npos);
}

TEST(AttachedProcess, AShellThatIsNoneIsNotTaken) {
  const std::string usual = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  EXPECT_EQ(shell_of_account("/bin/sh"), "/bin/sh");
  for (const char* none :
       {"", "/usr/sbin/nologin", "/bin/false", "/no/such/shell", "bash", "/etc/passwd"})
    EXPECT_EQ(shell_of_account(none), usual) << none;
}

TEST(AttachedStdio, ATerminalHasASizeAndAnEnd) {
  auto stdio = open_terminal({12, 34}, geteuid());
  ASSERT_TRUE(stdio) << stdio.error().message;
  winsize size{};
  ASSERT_EQ(ioctl(stdio->theirs[0].get(), TIOCGWINSZ, &size), 0);
  EXPECT_EQ(size.ws_row, 12);
  EXPECT_EQ(size.ws_col, 34);
  for (const io::Fd& fd : stdio->theirs) EXPECT_TRUE(isatty(fd.get()));
  const int terminal = stdio->output.get();
  EXPECT_EQ(end_of_input(terminal, false), "\x04");
  EXPECT_EQ(end_of_input(terminal, true), "\x04\x04");
  termios settings{};
  tcgetattr(stdio->theirs[0].get(), &settings);
  cfmakeraw(&settings);
  tcsetattr(stdio->theirs[0].get(), TCSANOW, &settings);
  EXPECT_EQ(end_of_input(terminal, true), "") << "the program reads bytes as they are";
}

TEST(AttachedStdio, PipesOfOursDoNotBlockAndTheirsDo) {
  auto stdio = open_pipes(true, geteuid());
  ASSERT_TRUE(stdio) << stdio.error().message;
  for (const io::Fd* ours : {&stdio->input, &stdio->output, &stdio->error})
    EXPECT_NE(fcntl(ours->get(), F_GETFL) & O_NONBLOCK, 0);
  for (const io::Fd& theirs : stdio->theirs)
    EXPECT_EQ(fcntl(theirs.get(), F_GETFL) & O_NONBLOCK, 0);
  stdio = open_pipes(false, geteuid());
  ASSERT_TRUE(stdio);
  EXPECT_FALSE(stdio->input);
  char c = 0;
  EXPECT_EQ(read(stdio->theirs[0].get(), &c, 1), 0);
}

}  // namespace
}  // namespace lockstep::runner
