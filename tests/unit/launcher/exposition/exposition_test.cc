// The whole exposition: of an empty launcher, of a full one with hostile names, and its bounds.

#include "launcher/exposition/exposition.h"

#include <gtest/gtest.h>

#include "launcher/exposition/families.h"
#include "tests/support/hostile_text.h"
#include "tests/unit/launcher/exposition/exposition_reader.h"

namespace lockstep::launcher {
namespace {

using test::read_exposition;

constexpr ExpositionFormat kFormats[] = {ExpositionFormat::prometheus_text,
                                         ExpositionFormat::open_metrics};

ClusterNumbers cluster(std::size_t nodes, std::size_t jobs) {
  ClusterNumbers all;
  all.process = {Instant{1'769'846'400'123'000'000}, 12.5, gibibytes(1), 40, 20'000};
  all.launcher.version = "0.8";
  all.launcher.loop_seconds.observe(0.002);
  all.launcher.queues = {{"journal", 3}, {"walks", 0}};
  all.launcher.connections = {{"node", nodes}, {"user", 2}};
  all.launcher.requests = {{{"submit", "ok"}, 7}, {{"submit", "permission_denied"}, 1}};
  all.launcher.blob_bytes_sent = {{"node", std::uint64_t{1} << 62}};
  all.launcher.schedules = {{"enabled", 2}, {"paused", 1}};
  all.launcher.schedule_runs = {{"started", 9}, {"missed", 1}};
  for (const char* name : {"lab", "cloud"}) {
    TargetNumbers target;
    target.name = name;
    target.jobs = {{"Queued", 5}, {"Running", jobs}};
    target.jobs_ended = {{"Completed", 100}};
    target.attempts_ended = {{"node_lost", 1}};
    target.wait_seconds.observe(61);
    target.nodes = {{{"alive", "in service", "0.8"}, nodes}};
    target.cpus = 128;
    target.memory = gibibytes(512);
    all.targets.push_back(std::move(target));
  }
  all.users = {{"ann", "vision", 1, 2, 3, 4, 5}};
  for (std::size_t i = 0; i < nodes; ++i) {
    NodeNumbers node;
    node.id = NodeId(i + 1);
    node.name = i % 2 == 0 ? "n" + std::to_string(i) : "twin";
    node.target = "lab";
    node.alive = true;
    node.cpus = 64;
    if (i % 3 != 0) node.use = NodeNumbers::Use{1.5, 0, gibibytes(2), gibibytes(10), 5, 6};
    all.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < jobs; ++i)
    all.jobs.push_back({"job-" + std::to_string(i), "ann", "lab", 60, 1, 8, 8, 1,
                        JobNumbers::Use{7.5, 1, gibibytes(1), 0}});
  return all;
}

TEST(Exposition, OfAnEmptyLauncherHasAllFamilies) {
  for (const auto format : kFormats) {
    const auto read = read_exposition(exposition_of({}, format), format);
    EXPECT_EQ(read.wrong, "");
    EXPECT_EQ(read.families.size(), all_families().size());
  }
}

TEST(Exposition, HasTheNumbersOfAll) {
  for (const auto format : kFormats) {
    const auto read = read_exposition(exposition_of(cluster(6, 2), format), format);
    ASSERT_EQ(read.wrong, "");
    const auto value = [&](std::string_view name,
                           const std::map<std::string, std::string>& labels = {}) {
      const auto* sample = read.sample(name, labels);
      return sample == nullptr ? "none" : sample->text;
    };
    EXPECT_EQ(value("lockstep_build_info", {{"version", "0.8"}}), "1");
    EXPECT_EQ(value("process_start_time_seconds"), "1769846400.123");
    EXPECT_EQ(value("process_cpu_seconds_total"), "12.5");
    EXPECT_EQ(value("lockstep_loop_turn_seconds_count"), "1");
    EXPECT_EQ(value("lockstep_queue_length", {{"queue", "journal"}}), "3");
    EXPECT_EQ(
        value("lockstep_requests_total", {{"kind", "submit"}, {"outcome", "permission_denied"}}),
        "1");
    EXPECT_EQ(value("lockstep_blob_sent_bytes_total", {{"peer", "node"}}), "4611686018427387904");
    EXPECT_EQ(value("lockstep_takes_work"), "1");
    EXPECT_EQ(value("lockstep_jobs", {{"target", "lab"}, {"status", "Running"}}), "2");
    EXPECT_EQ(value("lockstep_job_wait_seconds_sum", {{"target", "lab"}}), "61");
    EXPECT_EQ(value("lockstep_nodes", {{"target", "cloud"},
                                       {"liveness", "alive"},
                                       {"state", "in service"},
                                       {"version", "0.8"}}),
              "6");
    EXPECT_EQ(value("lockstep_memory_bytes", {{"target", "lab"}}), "549755813888");
    EXPECT_EQ(value("lockstep_user_gpus_held", {{"user", "ann"}, {"project", "vision"}}), "5");
    EXPECT_EQ(value("lockstep_node_up", {{"target", "lab"}, {"node", "twin"}, {"id", "2"}}), "1");
    EXPECT_EQ(value("lockstep_node_cpus_busy", {{"target", "lab"}, {"node", "twin"}, {"id", "2"}}),
              "1.5");
    // The first node told nothing lately.
    EXPECT_EQ(value("lockstep_node_cpus_busy", {{"target", "lab"}, {"node", "n0"}, {"id", "1"}}),
              "none");
    EXPECT_EQ(
        value("lockstep_job_gpus_held", {{"job", "job-1"}, {"user", "ann"}, {"target", "lab"}}),
        "1");
    EXPECT_TRUE(read.family("lockstep_exposition_left_out")->samples.empty());
  }
}

TEST(Exposition, WithHostileNamesIsRead) {
  for (const auto format : kFormats) {
    ClusterNumbers all = cluster(2, 0);
    for (const std::string& text : test::hostile_texts()) {
      all.launcher.version = text;
      all.launcher.queues[text] = 1;
      TargetNumbers target;
      target.name = text;
      target.jobs[text] = 1;
      all.targets.push_back(std::move(target));
      all.users.push_back({text, text, 1, 1, 1, 1, 1});
      all.jobs.push_back({text, text, text, 1, 1, 1, 1, 1, {}});
      NodeNumbers node;
      node.name = node.target = text;
      all.nodes.push_back(std::move(node));
    }
    const auto read = read_exposition(exposition_of(all, format), format);
    EXPECT_EQ(read.wrong, "");
    EXPECT_EQ(read.family("lockstep_jobs")->samples.size(), 4 + test::hostile_texts().size());
  }
}

TEST(Exposition, SaysWhatItLeavesOut) {
  for (const auto format : kFormats) {
    ExpositionLimits limits;
    limits.series_of_a_family = 50;
    limits.series = 1'500;
    const auto read = read_exposition(exposition_of(cluster(500, 500), format, limits), format);
    EXPECT_EQ(read.wrong, "");
    const auto* left_out =
        read.sample("lockstep_exposition_left_out", {{"family", "lockstep_job_nodes"}});
    ASSERT_NE(left_out, nullptr);
    EXPECT_EQ(left_out->value, 450);
    EXPECT_LE(read.series(), limits.series + all_families().size());
  }
}

TEST(Exposition, OfAFullClusterIsBounded) {
  // 5,000 nodes and 1,000 running jobs, as an operator may ask for.
  const ClusterNumbers all = cluster(5'000, 1'000);
  const std::string text = exposition_of(all, ExpositionFormat::open_metrics);
  EXPECT_LT(text.size(), 16u << 20);
  const auto read = read_exposition(text, ExpositionFormat::open_metrics);
  EXPECT_EQ(read.wrong, "");
  EXPECT_TRUE(read.family("lockstep_exposition_left_out")->samples.empty());
}

}  // namespace
}  // namespace lockstep::launcher
