#include <gtest/gtest.h>

#include "common/domain/job/spec.h"
#include "common/domain/messages/views.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/targets/compute.h"

namespace lockstep {
namespace {

JobSpec good() {
  JobSpec spec;
  spec.name = "good-name_1";
  spec.command = ShellCommand{"true"};
  return spec;
}

TEST(JobSpec, AGoodOneIsAccepted) { EXPECT_TRUE(validate(good())); }

struct Bad {
  const char* field;
  void (*spoil)(JobSpec&);
};

class BadSpec : public testing::TestWithParam<Bad> {};

TEST_P(BadSpec, NamesTheField) {
  JobSpec spec = good();
  GetParam().spoil(spec);
  const Status status = validate(spec);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.rfind(std::string(GetParam().field) + ":", 0), 0u)
      << status.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadSpec,
    testing::Values(
        Bad{"name", [](JobSpec& s) { s.name = "../etc"; }},
        Bad{"name", [](JobSpec& s) { s.name = "-x"; }},
        Bad{"name", [](JobSpec& s) { s.name = std::string(241, 'a'); }},
        Bad{"command", [](JobSpec& s) { s.command = ShellCommand{" \n"}; }},
        Bad{"command", [](JobSpec& s) { s.command = Argv{}; }},
        Bad{"command", [](JobSpec& s) { s.command = ShellCommand{std::string(200'000, 'x')}; }},
        Bad{"environment_variables", [](JobSpec& s) { s.environment_variables["a=b"] = "c"; }},
        Bad{"environment_variables.A",
            [](JobSpec& s) { s.environment_variables["A"] = std::string((1 << 17) - 2, 'x'); }},
        Bad{"environment_variables.A",
            [](JobSpec& s) { s.environment_variables["A"] = std::string("x\0y", 3); }},
        Bad{"resources.instance_count", [](JobSpec& s) { s.resources.instance_count = 0; }},
        Bad{"lockstep.terminal",
            [](JobSpec& s) {
              s.terminal = TerminalKind::pty;
              s.array = ArrayTask{};
            }},
        Bad{"lockstep.terminal",
            [](JobSpec& s) {
              s.terminal = TerminalKind::input;
              s.step = "a";
            }},
        Bad{"distribution.process_count_per_instance",
            [](JobSpec& s) { s.distribution.processes_per_node = 5000; }},
        Bad{"distribution.worker_count",
            [](JobSpec& s) { s.distribution = tensorflow_on(1, 5000, 0); }},
        Bad{"distribution.worker_count",
            [](JobSpec& s) {
              s.distribution = tensorflow_on(2, 1, 0);
              s.resources.instance_count = 2;
            }},
        Bad{"distribution.worker_count",  // made for fewer nodes
            [](JobSpec& s) {
              s.distribution = tensorflow_on(1, 4, 0);
              s.resources.instance_count = 2;
            }},
        Bad{"distribution.worker_count", [](JobSpec& s) { s.distribution.workers = 1; }},
        Bad{"distribution.port", [](JobSpec& s) { s.distribution.ray.port = 1; }},
        Bad{"distribution.address",
            [](JobSpec& s) {
              s.distribution.kind = Distribution::Kind::ray;
              s.distribution.ray.address = "$(id)";
            }},
        Bad{"distribution.head_node_additional_args",
            [](JobSpec& s) {
              s.distribution.kind = Distribution::Kind::ray;
              s.distribution.ray.head_arguments.assign(101, "x");
            }},
        Bad{"lockstep.resources.cpus", [](JobSpec& s) { s.resources.cpus = 0; }},
        Bad{"lockstep.resources.gpus", [](JobSpec& s) { s.resources.gpus = -1; }},
        Bad{"lockstep.gpus_per_rank",
            [](JobSpec& s) {
              s.resources.isolate_gpus = true;
              s.resources.gpus = 1;
              s.distribution.processes_per_node = 2;
            }},
        Bad{"lockstep.retry.max", [](JobSpec& s) { s.retry.max = -1; }},
        Bad{"limits.timeout", [](JobSpec& s) { s.timeout = Duration(0); }},
        Bad{"compute", [](JobSpec& s) { s.compute = "gpu cluster"; }}));

TEST(RanksOfNodes, AreConsecutiveAndDifferByOneAtMost) {
  JobSpec spec;
  spec.resources.instance_count = 3;
  spec.distribution = tensorflow_on(3, 5, 2);
  EXPECT_TRUE(validate(spec.distribution, 3));
  EXPECT_EQ(spec.distribution.processes_per_node, 3);
  EXPECT_EQ(spec.world_size(), 7);
  const int first[] = {0, 3, 5, 7}, node_of[] = {0, 0, 0, 1, 1, 2, 2};
  for (int node = 0; node < 3; ++node) {
    EXPECT_EQ(spec.first_rank_on(node), first[node]);
    EXPECT_EQ(spec.ranks_on(node), first[node + 1] - first[node]);
  }
  for (int rank = 0; rank < 7; ++rank) EXPECT_EQ(spec.node_of_rank(rank), node_of[rank]) << rank;
  spec.distribution = {Distribution::Kind::mpi, 4};
  EXPECT_EQ(spec.world_size(), 12);
  EXPECT_EQ(spec.first_rank_on(2), 8);
  EXPECT_EQ(spec.node_of_rank(7), 1);
}

TEST(ExitCode, FollowsTheShellsAndDesign) {
  RankExit exit;
  exit.cause = Cause::exit_code;
  exit.exit_code = 42;
  EXPECT_EQ(exit_code_of(exit), 42);
  exit = {};
  exit.cause = Cause::signal;
  exit.signal = 9;
  EXPECT_EQ(exit_code_of(exit), 137);
  exit = {};
  exit.cause = Cause::exit_without_finalize;
  EXPECT_EQ(exit_code_of(exit), 1);
  for (const auto& [cause, code] : {std::pair{Cause::timeout, 124},
                                    {Cause::command_not_found, 127},
                                    {Cause::command_not_executable, 126},
                                    {Cause::canceled, 130},
                                    {Cause::node_lost, 125},
                                    {Cause::completed, 0}}) {
    exit = {};
    exit.cause = cause;
    EXPECT_EQ(exit_code_of(exit), code) << to_string(cause);
  }
}

TEST(JobStatus, WordsRoundTrip) {
  for (int i = 0; i <= static_cast<int>(JobStatus::canceled); ++i) {
    const auto status = static_cast<JobStatus>(i);
    EXPECT_EQ(job_status_from(to_string(status)), status);
  }
  EXPECT_FALSE(job_status_from("Confused"));
}

TEST(SshHosts, BecomeWordsOfACommandLine) {
  const auto is_good = [](auto change) {
    SshHost host;
    host.name = host.address = "vm1";
    change(host);
    return check(host).has_value();
  };
  for (const char* name : {"vm1", "a.b_c-d"})
    EXPECT_TRUE(is_good([&](SshHost& host) { host.name = name; })) << name;
  for (const char* name : {"", ".", "..", "-vm", "a b", "a:b", "a/b", "a;b"})
    EXPECT_FALSE(is_good([&](SshHost& host) { host.name = name; })) << name;
  for (const char* address : {"vm1", "10.0.0.1", "fe80::1"})
    EXPECT_TRUE(is_good([&](SshHost& host) { host.address = address; })) << address;
  for (const char* address : {"", "..", "-oProxyCommand=x", "a b", "a\nb", "$(x)"})
    EXPECT_FALSE(is_good([&](SshHost& host) { host.address = address; })) << address;
  for (const char* jump : {"", "none", "gate", "ann@gate:22", "ann@[fe80::1]:22", "[fe80::1]"})
    EXPECT_TRUE(is_good([&](SshHost& host) { host.jump = jump; })) << jump;
  for (const char* jump : {"gate:0", "gate:65536", "gate:99999", "gate:x", "gate:", ":22", "a b"})
    EXPECT_FALSE(is_good([&](SshHost& host) { host.jump = jump; })) << jump;
  EXPECT_FALSE(is_good([](SshHost& host) { host.directory = "/srv/../etc"; }));
  EXPECT_FALSE(is_good([](SshHost& host) { host.key = "relative/key"; }));
}

}  // namespace
}  // namespace lockstep
