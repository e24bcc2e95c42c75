// What an assignment asks of a node: for which platform, and under which key.

#include "agent/environment/target.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace lockstep::agent {
namespace {

using What = EnvironmentTarget::What;

Assignment asking(EnvironmentDefinition definition,
                  std::vector<std::string> virtual_packages = {"__cuda=12.4", "__glibc=2.36"}) {
  Assignment assignment;
  assignment.attempt.job.value = "j";
  assignment.spec.environment = EnvironmentSpec{"", "", std::move(definition)};
  assignment.environment.virtual_packages = std::move(virtual_packages);
  return assignment;
}

EnvironmentTarget target(const Assignment& assignment, const Interpreter& interpreter = {}) {
  return target_of(assignment, interpreter, io::User{});
}

CondaEnvironment zlib() {
  CondaEnvironment conda;
  conda.dependencies = {"zlib"};
  return conda;
}

// Of this machine, in conda's word.
std::string subdir() {
  utsname kernel{};
  ::uname(&kernel);
  const std::string machine = kernel.machine;
  return machine == "x86_64" ? "linux-64" : "linux-" + machine;
}

TEST(Target, CondaIsOfTheMachineAndOfWhatAllNodesHave) {
  EXPECT_EQ(target(asking(zlib())).platform, subdir() + " __cuda=12.4 __glibc=2.36");
  EXPECT_EQ(target(asking(zlib(), {})).platform, subdir());
  EXPECT_EQ(interpreter_of(zlib()), "");
}

TEST(Target, CondaIsSolvedForEachPlatform) {
  Assignment assignment = asking(zlib());
  EXPECT_EQ(target(assignment).what, What::wait);
  assignment.environment.solve = true;
  EXPECT_EQ(target(assignment).what, What::solve);
  assignment.environment.locks = {{subdir() + " __glibc=2.36", sha256("other")}};
  EXPECT_EQ(target(assignment).what, What::solve);
  assignment.environment.locks.push_back({subdir() + " __cuda=12.4 __glibc=2.36", sha256("lock")});
  EXPECT_EQ(target(assignment).what, What::build);
  EXPECT_EQ(target(assignment).lock, sha256("lock"));
}

TEST(Target, CondaHasAKeyForEachPlatform) {
  EXPECT_EQ(target(asking(zlib())).key, target(asking(zlib())).key);
  EXPECT_NE(target(asking(zlib())).key, target(asking(zlib(), {"__glibc=2.36"})).key);
}

TEST(Target, EveryKindHasAKeyForEachAccount) {
  const EnvironmentDefinition all[] = {HostEnvironment{"python3"}, VenvEnvironment{}, zlib(),
                                       DockerEnvironment{"debian:12", {}, {}}};
  for (const EnvironmentDefinition& definition : all) {
    Assignment hers = asking(definition), his = asking(definition);
    hers.spec.run_as = "alice";
    his.spec.run_as = "bob";
    EXPECT_NE(target(hers).key, target(his).key) << provider_of(definition);
    his.spec.run_as = "alice";
    EXPECT_EQ(target(hers).key, target(his).key) << provider_of(definition);
  }
}

TEST(Target, OthersDoNotCareForVirtualPackages) {
  const Interpreter python{"/usr/bin/python3", "3.11.2"};
  const EnvironmentDefinition venv = VenvEnvironment{"python3", {}, {"six"}, {}};
  const EnvironmentTarget with = target(asking(venv), python),
                          without = target(asking(venv, {}), python);
  EXPECT_TRUE(with.platform.ends_with("-python3.11")) << with.platform;
  EXPECT_EQ(with.platform, without.platform);
  EXPECT_EQ(with.key, without.key);
  EXPECT_EQ(interpreter_of(venv), "python3");
  const EnvironmentDefinition host = HostEnvironment{"/usr/bin/python3"};
  EXPECT_TRUE(target(asking(host), python).platform.ends_with("-python3.11.2"));
  EXPECT_EQ(target(asking(host), python).key, target(asking(host, {}), python).key);
  EXPECT_EQ(interpreter_of(host), "/usr/bin/python3");
}

}  // namespace
}  // namespace lockstep::agent
