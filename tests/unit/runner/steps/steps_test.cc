// Launch steps on their own: where cgroups may be made, which cpus a rank gets, and that captured
// output survives a disk that is full for a while.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/cgroups.h"
#include "runner/logs/log_capture.h"
#include "runner/steps/binding.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

// ---- where cgroups may be made
// -------------------------------------------------------------------

TEST(CgroupLayoutTest, Version1WithCoMountedControllers) {
  const auto found = io::find_cgroup_hierarchies(
      "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
      "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "32 25 0:28 / /home rw - ext4 /dev/sda1 rw\n",
      "5:cpu,cpuacct:/user.slice\n4:memory:/\n0::/x\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (io::CgroupHierarchy{1,
                                           "/sys/fs/cgroup/cpu,cpuacct",
                                           "/sys/fs/cgroup/cpu,cpuacct/user.slice",
                                           {"cpu", "cpuacct"}}));
  EXPECT_EQ(found[1],
            (io::CgroupHierarchy{1, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory", {"memory"}}));
}

TEST(CgroupLayoutTest, Version2) {
  const auto found = io::find_cgroup_hierarchies(
      "35 25 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
      "0::/system.slice/lockstep-agent.service/agent\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].version, 2);
  EXPECT_EQ(found[0].own, "/sys/fs/cgroup/system.slice/lockstep-agent.service/agent");
}

TEST(CgroupLayoutTest, AContainersMountShowsOnlyItsOwnPart) {
  const auto found = io::find_cgroup_hierarchies(
      "40 25 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
      "41 25 0:28 /docker/other /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n",
      "4:memory:/docker/abc/inner\n3:pids:/docker/abc\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].own, "/sys/fs/cgroup/memory/inner");
}

TEST(CgroupLayoutTest, EscapedMountPointsAndNoise) {
  const auto found = io::find_cgroup_hierarchies(
      "31 25 0:27 / /a\\040b rw master:1 propagate_from:2 - cgroup none rw,memory\nbroken line\n\n",
      "4:memory:/\nnonsense\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mount_point, "/a b");
}

TEST(CgroupTest, MadeLimitedRecordedAndRemoved) {
  TemporaryDirectory directory;
  io::CgroupRequest request{"unit-test." + std::to_string(getpid()), 3, mebibytes(32), 2,
                            directory.path() + "/cgroups"};
  auto cgroups = io::Cgroups::create(request);
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  EXPECT_TRUE(cgroups->limited());
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(cgroups->out_of_memory(rank));
    for (const auto& file : cgroups->procs_files(rank)) EXPECT_TRUE(io::exists(file)) << file;
  }
  const std::string record = *io::read_file(request.record);
  EXPECT_NE(record.find("rank_2\n"), std::string::npos);
  const std::string rank_directory = record.substr(0, record.find('\n'));
  EXPECT_TRUE(io::exists(rank_directory));
  EXPECT_TRUE(cgroups->remove());
  EXPECT_FALSE(io::exists(rank_directory));
}

// Decision 031: what is below a common parent starves processes outside of it. Whoever outlives the
// runner finds such a cgroup by its name all the same.
TEST(CgroupTest, CpuTimeIsWeighedBesideOtherAttemptsInVersion1) {
  TemporaryDirectory directory;
  const io::CgroupName name = io::cgroup_name("unit-weight.1", getpid());
  io::CgroupRequest request{name.lead + "0" + name.tail, 1, std::nullopt, 2,
                            directory.path() + "/cgroups"};
  auto cgroups = io::Cgroups::create(request);
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  std::vector<std::string> weighed, others;
  std::istringstream lines(*io::read_file(request.record));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(io::exists(line)) << line;
    (io::exists(line + "/cpu.shares") ? weighed : others).push_back(line);
  }
  for (const auto& path : weighed) EXPECT_TRUE(path.ends_with("/lockstep-" + request.name)) << path;
  EXPECT_FALSE(others.empty());
  EXPECT_TRUE(io::clean_cgroups_of("unit-weight.1", getpid()));
  for (const auto& path : weighed) EXPECT_FALSE(io::exists(path)) << path;
  for (const auto& path : others) EXPECT_FALSE(io::exists(path)) << path;
}

// What a process in these cgroups can fork, at most 100; it leaves nothing running.
int forks_in(const std::vector<std::string>& procs_files) {
  Pipe pipe;
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& file : procs_files) {
      const io::Fd fd(open(file.c_str(), O_WRONLY));
      if (write(fd.get(), "0", 1) != 1) _exit(1);
    }
    std::vector<pid_t> forked;
    for (pid_t pid = 0; forked.size() < 100 && (pid = fork()) >= 0; forked.push_back(pid))
      if (pid == 0) {
        while (true) pause();
      }
    for (const pid_t pid : forked) kill(pid, SIGKILL);
    for (const pid_t pid : forked) waitpid(pid, nullptr, 0);
    const std::string said = std::to_string(forked.size()) + "\n";
    if (write(pipe.writer(), said.data(), said.size()) < 0) _exit(2);
    _exit(0);
  }
  const std::string line = pipe.read_line();
  waitpid(child, nullptr, 0);
  return std::atoi(line.c_str());
}

TEST(CgroupTest, AForkBombEndsAtItsRanksLimitAndTakesNothingFromOthers) {
  TemporaryDirectory directory;
  io::CgroupRequest request{"unit-pids." + std::to_string(getpid()), 2, std::nullopt, 1,
                            directory.path() + "/cgroups",           8};
  auto cgroups = io::Cgroups::create(request);
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  if (!cgroups->limits_pids()) GTEST_SKIP() << "needs a writable pids cgroup";
  EXPECT_FALSE(cgroups->limited());
  const std::vector<std::string> first = cgroups->first_files(0);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(forks_in(first), 7);
  EXPECT_GT(cgroups->refused_forks(0), 0);
  EXPECT_EQ(cgroups->refused_forks(1), 0);
  Pipe bomb;
  const pid_t full = fork();
  if (full == 0) {
    const io::Fd fd(open(first[0].c_str(), O_WRONLY));
    if (write(fd.get(), "0", 1) != 1) _exit(1);
    while (fork() >= 0) {
    }
    if (write(bomb.writer(), "full\n", 5) != 5) _exit(2);
    while (true) pause();
  }
  ASSERT_EQ(bomb.read_line(), "full\n");
  EXPECT_EQ(forks_in(cgroups->first_files(1)), 7);
  cgroups->kill_all();
  waitpid(full, nullptr, 0);
  EXPECT_TRUE(cgroups->remove());
}

TEST(CgroupTest, MembersAreKilledWithoutSpawn) {
  TemporaryDirectory directory;
  auto cgroups = io::Cgroups::create(
      {"unit-kill." + std::to_string(getpid()), 1, std::nullopt, 1, directory.path() + "/cgroups"});
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  Pipe pipe;
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& file : cgroups->procs_files(0)) {
      const io::Fd fd(open(file.c_str(), O_WRONLY));
      if (write(fd.get(), "0", 1) != 1) _exit(1);
    }
    if (write(pipe.writer(), "in\n", 3) != 3) _exit(2);
    while (true) pause();
  }
  ASSERT_EQ(pipe.read_line(), "in\n");
  cgroups->kill_all();
  EXPECT_EQ(pipe.read_to_end(), "");
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(cgroups->remove());
}

// ---- binding
// ---------------------------------------------------------------------------------------

TEST(BindingTest, RanksShareTheCpusWithoutOverlapOrRest) {
  const std::vector<int> cpus{0, 1, 2, 3, 4, 5, 6};
  std::vector<int> all;
  for (int rank = 0; rank < 3; ++rank)
    for (const int cpu : share_of(cpus, rank, 3)) all.push_back(cpu);
  EXPECT_EQ(all, cpus);
  EXPECT_EQ(share_of(cpus, 0, 1), cpus);
  EXPECT_EQ(share_of(cpus, 6, 7), std::vector<int>{6});
}

TEST(BindingTest, MoreRanksThanCpusAreUnbound) { EXPECT_TRUE(share_of({0, 1}, 0, 3).empty()); }

TEST(BindingTest, ThreadsOfACoreAreNeighbours) {
  TemporaryDirectory sys;
  for (int cpu = 0; cpu < 2; ++cpu) {  // cpu 1 is on an earlier core than cpu 0
    const std::string base = sys.path() + "/cpu" + std::to_string(cpu) + "/topology";
    ASSERT_TRUE(io::make_directories(base));
    ASSERT_TRUE(io::write_file_atomically(base + "/physical_package_id", "0\n"));
    ASSERT_TRUE(io::write_file_atomically(base + "/core_id", std::to_string(1 - cpu) + "\n"));
  }
  if (usable_cpus({1}).empty()) GTEST_SKIP() << "needs two cpus";
  EXPECT_EQ(usable_cpus({0, 1}, sys.path()), (std::vector<int>{1, 0}));
}

// Two NUMA nodes with two cores each, and two threads a core.
std::vector<std::vector<int>> bound(Binding binding, const std::vector<int>& cpus, int ranks) {
  auto bound = bind_ranks(binding, cpus, ranks, "numa:2 core:2 pu:2");
  EXPECT_TRUE(bound) << bound.error().message;
  return bound ? *bound : std::vector<std::vector<int>>();
}

TEST(BindingTest, RanksAreBoundAsTheJobSays) {
  using Cpus = std::vector<std::vector<int>>;
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(bound(Binding::automatic, all, 2), (Cpus{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(bound(Binding::none, all, 2), (Cpus{all, all}));
  EXPECT_EQ(bound(Binding::numa, all, 2), (Cpus{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(bound(Binding::numa, all, 1), (Cpus{{0, 1, 2, 3}}));
  EXPECT_EQ(bound(Binding::numa, all, 3), (Cpus{{0, 1, 2, 3}, {0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(bound(Binding::core, all, 2), (Cpus{{0, 1}, {4, 5}}));
  EXPECT_EQ(bound(Binding::core, all, 4), (Cpus{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

TEST(BindingTest, OnlyHeldCpusAreUsed) {
  using Cpus = std::vector<std::vector<int>>;
  EXPECT_EQ(bound(Binding::numa, {1, 4, 6}, 2), (Cpus{{1}, {4, 6}}));
  EXPECT_EQ(bound(Binding::core, {1, 4, 6}, 2), (Cpus{{1}, {4}}));
  // More ranks than cores: a share each, and more than cpus: all.
  EXPECT_EQ(bound(Binding::core, {0, 1}, 2), (Cpus{{0}, {1}}));
  EXPECT_EQ(bound(Binding::core, {0, 1}, 3), (Cpus{{0, 1}, {0, 1}, {0, 1}}));
}

TEST(BindingTest, CpusThatAreNotOursAreLeftOut) {
  EXPECT_EQ(usable_cpus({0, 8000, -1}), std::vector<int>{0});
}

// ---- log capture
// -------------------------------------------------------------------------------------

class LogCaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(io::make_directories(attempt_.logs()));
    logs_ = std::make_unique<LogCapture>(loop_, attempt_);
  }
  std::string text(LogStream stream) { return *io::read_file(attempt_.log(3, stream)); }

  TemporaryDirectory root_;
  io::AttemptDir attempt_{root_.path()};
  io::EventLoop loop_;
  std::unique_ptr<LogCapture> logs_;
};

TEST_F(LogCaptureTest, StreamsGoToTheirFilesInOrder) {
  auto writers = *logs_->open(3, geteuid());
  ASSERT_TRUE(io::write_all(writers.out.get(), "one\n"));
  ASSERT_TRUE(io::write_all(writers.err.get(), "bad"));
  ASSERT_TRUE(turn_until(loop_, [&] { return text(LogStream::out) == "one\n"; }));
  ASSERT_TRUE(io::write_all(writers.out.get(), "two"));
  writers.out.reset();
  writers.err.reset();
  EXPECT_TRUE(logs_->drain());
  EXPECT_EQ(text(LogStream::out), "one\ntwo");
  EXPECT_EQ(logs_->sizes(), (std::vector<LogSize>{{3, 7, 3}}));
  EXPECT_EQ(logs_->stderr_tail(3), "bad");
  EXPECT_EQ(logs_->stderr_tail(4), "");
}

TEST_F(LogCaptureTest, TheTailIsTheLastFourKilobytes) {
  auto writers = *logs_->open(3, geteuid());
  std::string long_text;
  for (int i = 0; i < 2000; ++i) long_text += std::to_string(i) + "\n";
  ASSERT_TRUE(io::write_all(writers.err.get(), long_text));
  writers.err.reset();
  ASSERT_TRUE(logs_->drain());
  EXPECT_EQ(logs_->stderr_tail(3), long_text.substr(long_text.size() - kStderrTailBytes));
}

TEST_F(LogCaptureTest, AWriterBeyondOurReachDoesNotHoldTheEnd) {
  auto writers = *logs_->open(3, geteuid());
  ASSERT_TRUE(io::write_all(writers.out.get(), "kept"));
  EXPECT_TRUE(logs_->drain());
  EXPECT_EQ(text(LogStream::out), "kept");
}

TEST_F(LogCaptureTest, AFullDiskBlocksTheRankAndLosesNothing) {
  signal(SIGXFSZ, SIG_IGN);
  auto writers = *logs_->open(3, geteuid());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);  // as a full disk: a part is taken, then an error
  const std::string chunk(1500, 'x');
  ASSERT_TRUE(io::write_all(writers.out.get(), chunk));
  EXPECT_TRUE(turn_until(loop_, [&] { return !logs_->blocked_reason().empty(); }));
  EXPECT_NE(logs_->blocked_reason().find("rank_3.stdout"), std::string::npos);
  const Instant now{1'000'000'000};
  logs_->retry(now);
  EXPECT_GT(logs_->retry_at(), now);
  EXPECT_FALSE(logs_->drain());
  ASSERT_TRUE(io::write_all(writers.out.get(), "end"));  // into the pipe: the rank may still write
  setrlimit(RLIMIT_FSIZE, &before);
  logs_->retry(logs_->retry_at());
  EXPECT_EQ(logs_->blocked_reason(), "");
  EXPECT_EQ(logs_->retry_at(), Instant::never());
  writers.out.reset();
  EXPECT_TRUE(logs_->drain());
  EXPECT_EQ(text(LogStream::out), chunk + "end");
}

}  // namespace
}  // namespace lockstep::runner::testing
