#include "launcher/cli/text/targets/usage_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

NodeUsage node(const std::string& name, std::int64_t cpu_milli) {
  NodeUsage node;
  node.name = name;
  node.liveness = Liveness::alive;
  node.cpus = 8;
  node.memory = gibibytes(64);
  node.jobs = 1;
  MeasuredNode& measured = node.use.emplace();
  measured.use.cpu_milli = cpu_milli;
  measured.use.memory = gibibytes(16);
  measured.use.disk_used = gibibytes(50);
  measured.use.disk_total = gibibytes(100);
  measured.use.received_per_second = 2u << 20;
  measured.use.sent_per_second = 512;
  return node;
}

JobUsage job(const std::string& name, int nodes, std::int64_t cpu_milli) {
  JobUsage job;
  job.job = JobId(name);
  job.submitter = "ada";
  for (int i = 0; i < nodes; ++i) {
    PartUsage part{"n" + std::to_string(i + 1), i, 2, 4, gibibytes(8), 1, {}};
    UsageNow& use = part.use.emplace();
    use.sum.cpu_milli = cpu_milli;
    use.sum.memory = gibibytes(2);
    use.sum.peak_memory = gibibytes(3);
    use.sum.cpu_time = seconds(75);
    use.gpu_percent = 90;
    use.gpu_memory = gibibytes(10);
    job.parts.push_back(part);
  }
  return job;
}

TEST(UsageView, ANodeHasOneRow) {
  NodeUsage old = node("n2", 100);
  old.use->stale = true;
  old.use->age = seconds(42);
  NodeUsage silent = node("n3", 0);
  silent.use.reset();
  NodeUsage gpus = node("n4", 0);
  gpus.gpus = {gibibytes(80), gibibytes(80)};
  gpus.use->use.gpus = {{0, 50, gibibytes(40)}, {1, 100, gibibytes(40)}};
  const std::string text = node_usage_table({node("n1", 3200), old, silent, gpus}, {});
  EXPECT_THAT(text, HasSubstr("3.20/8 40%"));
  EXPECT_THAT(text, HasSubstr("16.0 GiB/64.0 GiB 25%"));
  EXPECT_THAT(text, HasSubstr("2.0 MiB/s"));
  EXPECT_THAT(text, HasSubstr("512 B/s"));
  EXPECT_THAT(text, HasSubstr("42.0s old"));
  EXPECT_THAT(text, HasSubstr("reports no use"));
  EXPECT_THAT(text, HasSubstr("2x 75%"));
  EXPECT_THAT(text, HasSubstr("80.0 GiB/160.0 GiB 50%"));
}

TEST(UsageView, AJobOnSeveralNodesHasARowForEach) {
  JobUsage big = job("big", 2, 1500);
  big.parts[1].use->stale = true;
  big.parts[1].use->age = seconds(30);
  JobUsage silent = job("silent", 1, 0);
  silent.silent = minutes(12);
  JobUsage hidden = job("hidden", 1, 0);
  hidden.parts[0].use.reset();
  const std::string text = job_usage_table({big, silent, hidden}, {});
  EXPECT_THAT(text, HasSubstr("2 nodes"));
  EXPECT_THAT(text, HasSubstr("3.00/8 38%"));
  EXPECT_THAT(text, HasSubstr("1.50/4 38%"));
  EXPECT_THAT(text, HasSubstr("30.0s old"));
  EXPECT_THAT(text, HasSubstr("2x 90%"));
  EXPECT_THAT(text, HasSubstr("silent for 12m"));
  EXPECT_THAT(text, HasSubstr("-/4"));
  EXPECT_EQ(job_usage_table({}, {}), "no job holds a node\n");
}

TEST(UsageView, WideRowsAreCutForATerminal) {
  std::size_t longest = 0, from = 0;
  const std::string text = job_usage_table({job(std::string(200, 'x'), 1, 1500)}, 80);
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', from)) {
    longest = std::max(longest, end - from);
    from = end + 1;
  }
  EXPECT_LE(longest, 84u);
}

TEST(UsageView, NamesOfOthersCannotControlTheTerminal) {
  EXPECT_THAT(node_usage_table({node("n\x1b[2J", 1)}, {}), Not(HasSubstr("\x1b")));
}

TEST(UsageView, SortsByUseAndPutsTheUnknownLast) {
  std::vector<NodeUsage> nodes{node("c", 100), node("a", 100), node("b", 900), node("d", 0)};
  nodes[3].use.reset();
  std::vector<JobUsage> jobs{job("x", 1, 10), job("y", 1, 500)};
  const auto names = [&] {
    std::string text;
    for (const auto& one : nodes) text += one.name;
    return text;
  };
  sort_usage(UsageOrder::cpu, &nodes, &jobs);
  EXPECT_EQ(names(), "bacd");
  EXPECT_EQ(jobs[0].job.value, "y");
  sort_usage(UsageOrder::name, &nodes, &jobs);
  EXPECT_EQ(names(), "abcd");
  EXPECT_EQ(usage_order_from("mem"), UsageOrder::memory);
  EXPECT_EQ(usage_order_from("colour"), std::nullopt);
}

TEST(UsageView, ShowHasALineForEachRank) {
  PartView part;
  part.use =
      MeasuredPart{{{3, 1500, seconds(90), gibibytes(1), gibibytes(2), {}, {}}}, {}, {}, false};
  part.used = {{4, 0, seconds(12), {}, mebibytes(5), {}, kibibytes(3)}};
  EXPECT_EQ(rank_use_lines(part),
            "      rank 3: 1.50 cpus (1m30s in all), memory 1.0 GiB, peak 2.0 GiB, read 0 B, wrote "
            "0 B\n"
            "      rank 4: used 12.0s of cpu time, peak memory 5.0 MiB, read 0 B, wrote 3.0 KiB\n");
  EXPECT_EQ(rank_use_lines(PartView{}), "");
}

TEST(UsageView, ANodeShowsItsUseAndItsLastMinutes) {
  NodeView view;
  view.inventory.cpus = {0, 1, 2, 3};
  EXPECT_EQ(node_use_lines(view).cpu, "");
  MeasuredNode& measured = view.use.emplace();
  measured.use.cpu_milli = 2000;
  measured.use.gpus = {{1, 30, gibibytes(1)}};
  measured.history = {{minutes(5), 1000, {}, 0, 0, -1}, {seconds(1), 3000, {}, 0, 0, -1}};
  measured.stale = true;
  measured.age = seconds(60);
  const NodeUseLines lines = node_use_lines(view);
  EXPECT_THAT(lines.cpu, HasSubstr("2.00 of 4 cpus; over the last 5m"));
  EXPECT_THAT(lines.cpu, HasSubstr("mean 2.00, highest 3.00"));
  EXPECT_EQ(lines.gpus.at(0), "1: 30% busy, 1.0 GiB of memory used");
  EXPECT_THAT(lines.age, HasSubstr("1m00s old"));
}

TEST(UsageView, SilenceIsSaidInWords) {
  EXPECT_EQ(silence_text({}), "");
  EXPECT_EQ(silence_text(minutes(12)),
            "silent for 12m00s: its ranks have written nothing and used no cpu");
}

}  // namespace
}  // namespace lockstep::cli
