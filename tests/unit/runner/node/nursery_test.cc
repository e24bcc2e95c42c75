// A nursery is the cgroup in which ranks begin. Its process limit holds from the first fork on, and
// every process in it is moved to the rank's own cgroup, orphans too.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include <fstream>
#include <sstream>

#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/cgroups.h"
#include "common/io/cgroups/nursery.h"
#include "common/io/cgroups/pids_of_jobs.h"
#include "common/io/file_system.h"
#include "runner/node/cgroup_joiner.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

// A process that is in a nursery and does what `work` says.
class Nursed {
 public:
  explicit Nursed(const std::function<void(const std::string& nursery)>& work) {
    pid_ = fork();
    if (pid_ != 0) {
      nursery_ = pipe_.read_line();
      if (!nursery_.empty()) nursery_.pop_back();
      return;
    }
    const std::string nursery = io::enter_nursery();
    const std::string said = nursery + "\n";
    if (write(pipe_.writer(), said.data(), said.size()) < 0) _exit(2);
    work(nursery);
    while (true) pause();
  }
  ~Nursed() {
    for (const int pid : members(nursery_)) kill(pid, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    EXPECT_TRUE(eventually([&] {
      io::remove_empty_nurseries();
      return nursery_.empty() || !io::exists(nursery_);
    }));
  }
  static std::vector<int> members(const std::string& directory) {
    std::vector<int> found;
    std::istringstream in(io::read_file(directory + "/cgroup.procs").value_or(""));
    for (int pid = 0; in >> pid;)
      if (pid > 0) found.push_back(pid);  // 0 stands for one of another PID namespace
    return found;
  }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      usleep(5'000);
    }
    return false;
  }
  int pid() const { return pid_; }
  const std::string& nursery() const { return nursery_; }

 private:
  Pipe pipe_;
  pid_t pid_ = 0;
  std::string nursery_;
};

void expect_removed(io::Cgroups& cgroups) {
  EXPECT_TRUE(Nursed::eventually([&] {
    cgroups.kill_all();
    return cgroups.remove().has_value();
  }));
}

io::CgroupRequest request_in(const TemporaryDirectory& directory, const std::string& nursery) {
  io::CgroupRequest request;
  request.name = "unit-nursery." + std::to_string(getpid());
  request.record = directory.path() + "/cgroups";
  request.nursery = nursery;
  return request;
}

TEST(NurseryTest, OnlyWhatLooksLikeOneIsOne) {
  EXPECT_EQ(io::outside_nursery("/sys/fs/cgroup/pids/lockstep/starting-00ff"),
            "/sys/fs/cgroup/pids");
  for (const char* other : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids/lockstep/job.1.n0.7",
                            "/sys/fs/cgroup/pids/lockstep/starting-00ff/below", ""})
    EXPECT_EQ(io::outside_nursery(other), other);
}

TEST(PidsOfJobsTest, AReserveStaysForEverybodyElse) {
  EXPECT_EQ(io::pids_of_jobs(32'768, 1'000'000), 28'672);
  EXPECT_EQ(io::pids_of_jobs(4'194'304, 63'000), 55'125) << "the lesser of the kernel's limits";
  EXPECT_EQ(io::pids_of_jobs(4'194'304, 2'000'000), 1'983'616);
  EXPECT_EQ(io::pids_of_jobs(1'500, 9'999), 750) << "half of a small machine's, at least";
  EXPECT_GT(io::pids_of_jobs(), 0);
}

TEST(PidsOfJobsTest, WhatIsUsedIsReadFromTheCommonCgroup) {
  TemporaryDirectory directory;
  const std::string parent = directory.path();
  EXPECT_TRUE(io::limit_pids_of_jobs(parent)) << "it counts no processes";
  EXPECT_EQ(io::look_at_pids_of_jobs(parent).limit, 0);
  std::ofstream(parent + "/pids.max") << "28672\n";
  std::ofstream(parent + "/pids.current") << "28600\n";
  std::ofstream(parent + "/pids.events.local") << "max 12\n";
  const io::PidsOfJobs full = io::look_at_pids_of_jobs(parent);
  EXPECT_EQ(full.limit, 28'672);
  EXPECT_EQ(full.refused, 12);
  EXPECT_TRUE(full.is_used_up);
  EXPECT_TRUE(full.is_scarce) << "the node takes no new work";
  std::ofstream(parent + "/pids.current") << "26000\n";
  EXPECT_TRUE(io::look_at_pids_of_jobs(parent).is_scarce);
  EXPECT_FALSE(io::look_at_pids_of_jobs(parent).is_used_up);
  std::ofstream(parent + "/pids.current") << "20000\n";
  EXPECT_FALSE(io::look_at_pids_of_jobs(parent).is_used_up);
  EXPECT_FALSE(io::look_at_pids_of_jobs(parent).is_scarce);
}

TEST(NurseryTest, ANurseryGoesWhenNobodyIsInIt) {
  Nursed process([](const std::string&) {});
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  EXPECT_EQ(Nursed::members(process.nursery()), std::vector<int>{process.pid()});
  io::remove_empty_nurseries();
  EXPECT_TRUE(io::exists(process.nursery())) << "somebody is in it";
}

TEST(NurseryTest, RanksWithTheDefaultLimitBeginInTheNursery) {
  TemporaryDirectory directory;
  Nursed process([](const std::string&) {});
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  auto request = request_in(directory, process.nursery());
  auto cgroups = io::Cgroups::create(request);
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  EXPECT_EQ(cgroups->nursery(), process.nursery());
  EXPECT_TRUE(cgroups->first_files(0).empty()) << "they join beside their start";
  EXPECT_TRUE(cgroups->limits_pids());
  EXPECT_EQ(io::read_file(process.nursery() + "/pids.max").value_or(""),
            std::to_string(kDefaultPidsLimit + 64) + "\n");
  EXPECT_FALSE(io::exists(request.record)) << "nothing is made until they join";
  const std::string parent = process.nursery().substr(0, process.nursery().rfind('/'));
  EXPECT_EQ(io::read_file(parent + "/pids.max").value_or(""),
            std::to_string(io::pids_of_jobs()) + "\n")
      << "from the first rank on";
  ASSERT_TRUE(cgroups->make());
  EXPECT_EQ(io::read_file(parent + "/pids.max").value_or(""),
            std::to_string(io::pids_of_jobs()) + "\n");
  EXPECT_EQ(cgroups->pids_of_jobs().limit, io::pids_of_jobs());
  EXPECT_FALSE(cgroups->pids_of_jobs().is_used_up);
  EXPECT_NE(io::read_file(request.record).value_or("").find(process.nursery()), std::string::npos);
  EXPECT_TRUE(cgroups->remove());
  EXPECT_TRUE(io::exists(process.nursery()));
}

// Of memory, or of processes: it holds from the first page or fork on.
TEST(NurseryTest, RanksWithALimitThatSomebodyChoseJoinBeforeTheyExec) {
  TemporaryDirectory directory;
  Nursed process([](const std::string&) {});
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  auto few = request_in(directory, process.nursery());
  few.pids_limit = 16;
  auto limited = request_in(directory, process.nursery());
  limited.memory = mebibytes(64);
  for (const auto& request : {few, limited}) {
    auto cgroups = io::Cgroups::create(request);
    if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
    EXPECT_EQ(cgroups->nursery(), "");
    EXPECT_FALSE(cgroups->first_files(0).empty());
    EXPECT_NE(io::read_file(request.record).value_or("").find(process.nursery()), std::string::npos)
        << "whoever removes the attempt removes the nursery";
    EXPECT_TRUE(cgroups->remove());
  }
}

TEST(NurseryTest, TheNurseryIsEmptiedOfOrphansThatForkOnToo) {
  TemporaryDirectory directory;
  Nursed process([](const std::string& nursery) {
    if (nursery.empty() || fork() != 0) return;  // without a nursery, nothing would end them
    const std::time_t end = std::time(nullptr) + 60;
    // Each ends when its child is there: no descendant of ours is left, and none stays for long.
    for (int i = 0; i < 20; ++i)
      if (fork() == 0)
        while (true)
          if (fork() > 0 || std::time(nullptr) > end) _exit(0);
    _exit(0);
  });
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  auto cgroups = io::Cgroups::create(request_in(directory, process.nursery()));
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  ASSERT_TRUE(Nursed::eventually([&] { return Nursed::members(process.nursery()).size() > 10; }));
  ASSERT_TRUE(cgroups->make());
  const std::time_t before = std::time(nullptr);
  CgroupJoiner(process.pid(), 1).empty(process.nursery(), cgroups->shared_procs_files());
  EXPECT_LT(std::time(nullptr) - before, 30) << "they were waited for, not caught";
  EXPECT_EQ(Nursed::members(process.nursery()), std::vector<int>{process.pid()});
  expect_removed(*cgroups);
}

TEST(NurseryTest, WhatOrphansFromThereAreRefusedLaterIsCounted) {
  TemporaryDirectory directory;
  Nursed process([](const std::string& nursery) {
    if (nursery.empty() || fork() != 0) return;
    if (fork() != 0) _exit(0);
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 6'000; ++i) {
      if (fork() == 0) _exit(0);
      usleep(10'000);
    }
    _exit(0);
  });
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  auto cgroups = io::Cgroups::create(request_in(directory, process.nursery()));
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  ASSERT_TRUE(cgroups->make());
  CgroupJoiner(process.pid(), 1).empty(process.nursery(), cgroups->shared_procs_files());
  EXPECT_EQ(Nursed::members(process.nursery()), std::vector<int>{process.pid()});
  EXPECT_EQ(cgroups->refused_forks(0), 0);
  for (const std::string& file : cgroups->shared_procs_files())
    std::ofstream(file.substr(0, file.rfind('/')) + "/pids.max") << "1";  // where there is one
  EXPECT_TRUE(Nursed::eventually([&] { return cgroups->refused_forks(0) > 0; }));
  expect_removed(*cgroups);
}

TEST(NurseryTest, MembersThatWereStoppedForTheirMoveGoOn) {
  TemporaryDirectory directory;
  Nursed process([](const std::string& nursery) {
    if (nursery.empty()) return;
    for (int i = 0; i < 60; ++i)
      if (fork() == 0)
        while (true) pause();
  });
  if (process.nursery().empty()) GTEST_SKIP() << "needs a writable pids cgroup";
  auto cgroups = io::Cgroups::create(request_in(directory, process.nursery()));
  if (!cgroups) GTEST_SKIP() << "needs a writable memory cgroup: " << cgroups.error().message;
  ASSERT_TRUE(Nursed::eventually([&] { return Nursed::members(process.nursery()).size() == 61; }));
  ASSERT_TRUE(cgroups->make());
  std::vector<int> moved = Nursed::members(process.nursery());
  std::erase(moved, process.pid());
  CgroupJoiner(process.pid(), 1).empty(process.nursery(), cgroups->shared_procs_files());
  EXPECT_EQ(Nursed::members(process.nursery()), std::vector<int>{process.pid()});
  const auto sleeps = [](int pid) {
    const std::string stat = io::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
    return stat.find(") S ") != std::string::npos;
  };
  EXPECT_TRUE(Nursed::eventually([&] { return std::ranges::all_of(moved, sleeps); }));
  expect_removed(*cgroups);
}

}  // namespace
}  // namespace lockstep::runner::testing
