#include "launcher/cli/run_spec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lockstep::cli {
namespace {

RunArguments arguments() {
  RunArguments arguments;
  arguments.command = {"python", "t.py", "--x", "a b"};
  return arguments;
}

TEST(RunSpec, TakesEveryFlag) {
  RunArguments all = arguments();
  all.nodes = 2;
  all.ranks = 4;
  all.distribution = "pytorch";
  all.env = {"A=b=c", "EMPTY=", "LOCKSTEP_RUN_SPEC_TEST"};
  all.name = "night";
  all.timeout = "5m";
  all.cpus = 3;
  all.memory = "2g";
  all.gpus = 0;
  ASSERT_EQ(setenv("LOCKSTEP_RUN_SPEC_TEST", "ours", 1), 0);
  const auto spec = spec_of(all);
  unsetenv("LOCKSTEP_RUN_SPEC_TEST");
  ASSERT_TRUE(spec) << spec.error().message;
  JobSpec want;
  want.name = "night";
  want.experiment_name = "Default";
  want.command = Argv{{"python", "t.py", "--x", "a b"}};
  want.environment_variables = {{"A", "b=c"}, {"EMPTY", ""}, {"LOCKSTEP_RUN_SPEC_TEST", "ours"}};
  want.distribution = {Distribution::Kind::pytorch, 4};
  want.resources.instance_count = 2;
  want.resources.cpus = 3;
  want.resources.memory = gibibytes(2);
  want.resources.gpus = 0;
  want.timeout = minutes(5);
  EXPECT_EQ(*spec, want);
}

TEST(RunSpec, RefusesByName) {
  const auto refusal = [](auto change) {
    RunArguments bad = arguments();
    change(bad);
    const auto spec = spec_of(bad);
    return spec ? std::string("accepted") : spec.error().message;
  };
  EXPECT_EQ(refusal([](auto& a) { a.distribution = "ray"; }),
            "run: --distribution 'ray' is not supported yet");
  EXPECT_EQ(refusal([](auto& a) { a.distribution = "gang"; }),
            "run: --distribution 'gang' is not mpi, pytorch or none");
  EXPECT_EQ(refusal([](auto& a) { a.env = {"=x"}; }),
            "run: --env '=x' is not of the form NAME=VALUE");
  EXPECT_EQ(refusal([](auto& a) { a.env = {"LOCKSTEP_NOT_SET_ANYWHERE"}; }),
            "run: --env LOCKSTEP_NOT_SET_ANYWHERE: this variable is not set here");
  EXPECT_EQ(refusal([](auto& a) { a.timeout = "soon"; }),
            "run: --timeout 'soon' is not a time; write seconds, or 90s, 5m, 2h, 1d");
  for (const char* nothing : {"0", "0s"})
    EXPECT_EQ(refusal([&](auto& a) { a.timeout = nothing; }),
              fmt::format("run: --timeout '{}' would end the job at once; leave it out to set no "
                          "limit",
                          nothing));
  EXPECT_EQ(refusal([](auto& a) { a.timeout = "-1"; }),
            "run: --timeout '-1' is not a time; write seconds, or 90s, 5m, 2h, 1d");
  EXPECT_EQ(refusal([](auto& a) { a.memory = "lots"; }),
            "run: --memory 'lots' is not a size; write 512m or 2g");
  EXPECT_EQ(refusal([](auto& a) { a.memory = "0"; }),
            "run: --memory '0' is 0 B, too small to run in; write 512m or 2g");
  EXPECT_EQ(refusal([](auto& a) { a.env = {""}; }), "run: --env '' is not of the form NAME=VALUE");
  EXPECT_EQ(refusal([](auto& a) { a.name = "a b"; }).substr(0, 16), "run: name: 'a b'");
  EXPECT_EQ(refusal([](auto& a) { a.cpus = 0; }),
            "run: lockstep.resources.cpus: must be at least 1");
}

}  // namespace
}  // namespace lockstep::cli
