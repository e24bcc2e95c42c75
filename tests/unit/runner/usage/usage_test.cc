// What ranks use, from texts of /proc and of cgroups.

#include "runner/usage/rank_sampler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

using test::TempDir;

constexpr Instant kStart{1'000'000'000};

std::string stat(int pid, int parent, int ticks, int pages) {
  return fmt::format(
      "{} (py thon) 3) S {} 1 1 0 -1 4194304 9 0 0 0 {} 1 2 3 20 0 1 0 100 5000 {} 9", pid, parent,
      ticks - 6, pages);
}

class Machine {
 public:
  void process(int pid, int parent, int ticks, int pages, const std::string& io = "") const {
    const std::string folder = "proc/" + std::to_string(pid);
    root_.file(folder + "/stat", stat(pid, parent, ticks, pages));
    root_.file(folder + "/status", fmt::format("Name:\tx\nNSpid:\t{}\t{}\n", pid, pid - 100));
    if (!io.empty()) root_.file(folder + "/io", io);
  }
  void end(int pid) const { EXPECT_TRUE(io::remove_tree(root_ / ("proc/" + std::to_string(pid)))); }
  const TempDir& root() const { return root_; }

 private:
  TempDir root_;
};

Bytes pages(int count) {
  return Bytes{static_cast<std::uint64_t>(count) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

TEST(ProcessUse, ReadsStatWhateverTheName) {
  const auto use = parse_stat(stat(7, 3, 100, 12));
  ASSERT_TRUE(use);
  EXPECT_EQ(use->pid, 7);
  EXPECT_EQ(use->parent, 3);
  EXPECT_EQ(use->cpu_ticks, 100u);
  EXPECT_EQ(use->resident_pages, 12u);
  for (const char* bad : {"", "7", "7 (x", ") (", "7 (x) S 3", "x (x) S 3 1 1",
                          "7 (x) S 3 1 1 0 -1 4 9 0 0 0 -5 1 2 3 20 0 1 0 100 5000 12"})
    EXPECT_FALSE(parse_stat(bad)) << bad;
}

TEST(ProcessUse, ReadsBytesPidsAndMemory) {
  const auto io =
      parse_io("rchar: 5\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read, 4096u);
  EXPECT_EQ(io->written, 8192u);
  EXPECT_FALSE(parse_io("read_bytes: 4096\n"));
  EXPECT_EQ(parse_own_pid("Pid:\t9\nNSpid:\t900\t80\t7\nx:\n"), 7);
  EXPECT_EQ(parse_own_pid("Pid:\t9\n"), std::nullopt);
  EXPECT_EQ(parse_resident("anon 100\nfile 7\nfile_mapped 20\n"), Bytes{120});
  EXPECT_EQ(parse_resident("rss 1\ntotal_rss 300\ntotal_mapped_file 5\n"), Bytes{305});
  EXPECT_EQ(parse_resident("file_mapped 20\n"), std::nullopt);
}

TEST(ProcessUse, ATreeHasAllDescendants) {
  const std::vector<ProcessUse> all{
      {1, 0, 0, 0}, {2, 1, 0, 0}, {3, 2, 0, 0}, {4, 1, 0, 0}, {5, 5, 0, 0}};
  std::vector<int> tree = tree_of(all, 2);
  EXPECT_EQ(tree, std::vector<int>{3});
  EXPECT_EQ(tree_of(all, 1).size(), 3u);
  EXPECT_TRUE(tree_of(all, 5).empty()) << "a process that is its own parent ends the search";
}

TEST(RankSampler, WithoutCgroupsARankIsItsProcessTree) {
  const Machine machine;
  RankSampler sampler(seconds(5), machine.root().path());
  EXPECT_EQ(sampler.next_sample(), Instant::never());
  machine.process(50, 1, 1, 1);       // lockstep-spawn
  machine.process(101, 50, 100, 10);  // rank 4, which spawn knows as pid 1
  machine.process(102, 101, 50, 5, "read_bytes: 7\nwrite_bytes: 9\n");
  machine.process(103, 50, 1000, 100);  // another rank's
  sampler.started(kStart, 4, 1);
  EXPECT_EQ(sampler.next_sample(), kStart + seconds(1));
  const PartUse first = sampler.sample(kStart + seconds(1), {50, {}, 0});
  ASSERT_EQ(first.ranks.size(), 1u);
  EXPECT_EQ(first.ranks[0].rank, 4);
  EXPECT_EQ(first.ranks[0].cpu_milli, 1500) << "150 ticks of 10 ms in 1 s";
  EXPECT_EQ(first.ranks[0].memory, pages(15));
  EXPECT_EQ(first.ranks[0].read, Bytes{7});
  EXPECT_EQ(sampler.next_sample(), kStart + seconds(6));
  machine.end(102);
  machine.process(101, 50, 180, 4);  // it waited for 102
  const PartUse second = sampler.sample(kStart + seconds(6), {50, {}, 0});
  EXPECT_EQ(second.ranks[0].cpu_milli, 60);
  EXPECT_EQ(second.ranks[0].cpu_time, milliseconds(1800));
  EXPECT_EQ(second.ranks[0].memory, pages(4));
  EXPECT_EQ(second.ranks[0].peak_memory, pages(15));
  EXPECT_EQ(second.ranks[0].written, Bytes{9}) << "what was written stays written";
}

TEST(RankSampler, ACgroupTellsItsProcessesAndMemory) {
  const Machine machine;
  RankSampler sampler(seconds(5), machine.root().path());
  machine.process(201, 50, 100, 10);
  machine.process(202, 1, 100, 20);  // an orphan of the rank
  machine.root().file("cg/cgroup.procs", "201\n202\n");
  machine.root().file("cg/memory.stat", "anon 10000000\nfile_mapped 5\n");
  const auto cgroup = [&](int) { return machine.root() / "cg"; };
  sampler.started(kStart, 0, 201);
  const PartUse use = sampler.sample(kStart + seconds(1), {50, cgroup, 0});
  EXPECT_EQ(use.ranks[0].cpu_milli, 2000);
  EXPECT_EQ(use.ranks[0].memory, Bytes{10000005});
}

TEST(RankSampler, QuietIsWithoutCpuAndWithoutOutput) {
  const Machine machine;
  RankSampler sampler(seconds(5), machine.root().path());
  machine.process(101, 50, 0, 1);
  sampler.started(kStart, 0, 1);
  const auto at = [&](int second, int ticks, std::uint64_t logged) {
    machine.process(101, 50, ticks, 1);
    return sampler.sample(kStart + seconds(second), {50, {}, logged}).quiet;
  };
  EXPECT_EQ(at(5, 0, 0), seconds(5));
  EXPECT_EQ(at(10, 3, 0), seconds(10)) << "30 ms in 5 s is as good as none";
  EXPECT_EQ(at(15, 103, 0), seconds(0));
  EXPECT_EQ(at(20, 103, 0), seconds(5));
  EXPECT_EQ(at(25, 103, 1), seconds(0)) << "it wrote a byte";
  EXPECT_EQ(at(30, 103, 1), seconds(5));
}

TEST(RankSampler, TheEndKnowsMoreThanTheSamples) {
  const Machine machine;
  RankSampler sampler(seconds(5), machine.root().path());
  machine.process(101, 50, 100, 10);
  sampler.started(kStart, 0, 1);
  (void)sampler.sample(kStart + seconds(1), {50, {}, 0});
  sampler.exited(0, seconds(9), mebibytes(64));
  EXPECT_EQ(sampler.used(0).cpu_time, seconds(9));
  EXPECT_EQ(sampler.used(0).peak_memory, mebibytes(64));
  EXPECT_EQ(sampler.used(0).cpu_milli, 0);
  EXPECT_TRUE(sampler.sample(kStart + seconds(5), {50, {}, 0}).ranks.empty());
  EXPECT_EQ(sampler.next_sample(), Instant::never());
  EXPECT_EQ(sampler.used(7).rank, 7) << "one that never ran has used nothing";
}

TEST(RankSampler, SamplesNothingWithoutAnInterval) {
  RankSampler sampler(Duration(0));
  sampler.started(kStart, 0, 1);
  EXPECT_EQ(sampler.next_sample(), Instant::never());
  sampler.exited(0, seconds(2), mebibytes(3));
  EXPECT_EQ(sampler.used(0).peak_memory, mebibytes(3)) << "the kernel says it for nothing";
}

}  // namespace
}  // namespace lockstep::runner
