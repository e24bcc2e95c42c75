// Names and versions of environments, and what people see of those that jobs have.

#include "tests/unit/launcher_core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

RegisteredEnvironment named(std::string version, std::string interpreter) {
  return {{"tools", std::move(version), HostEnvironment{std::move(interpreter)}}, "", {}};
}

std::string create(TestLauncher& launcher, RegisteredEnvironment environment) {
  launcher.send(
      CreateEnvironmentInput{launcher.next_reply(), std::move(environment), "", UserCaller{"ada"}});
  const auto refused = launcher.take<ReplyRefused>();
  if (!refused.empty()) return refused.front().message;
  return launcher.expect_one<ReplyEnvironment>().version;
}

TEST(EnvironmentNames, AVersionIsCountedWhereNoneIsGiven) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(create(launcher, named("", "b")), "2");
  EXPECT_EQ(create(launcher, named("7", "c")), "7");
  EXPECT_EQ(create(launcher, named("beta", "d")), "beta");
  EXPECT_EQ(create(launcher, named("", "e")), "8");
}

TEST(EnvironmentNames, TheNewestAgainIsItself) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 1U);
  EXPECT_EQ(create(launcher, named("", "b")), "2");
  EXPECT_EQ(create(launcher, named("", "a")), "3") << "what is older was replaced on purpose";
}

TEST(EnvironmentNames, AVersionNeverChanges) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("1", "a")), "1");
  EXPECT_EQ(create(launcher, named("1", "a")), "1");
  EXPECT_EQ(
      create(launcher, named("1", "b")),
      "environment tools:1 exists already and is another definition; a version never changes: "
      "choose another version, or leave it out to get the next one");
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 1U);
}

TEST(EnvironmentViews, APartShowsWhatItAskedForAndThenWhatItHas) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.environment = EnvironmentSpec{"tools", "1", VenvEnvironment{"python3", {}, {"six"}, {}}};
  const JobId job = launcher.submit(spec);
  const auto shown = [&] { return launcher.view(job).attempts.at(0).parts.at(0).environment; };
  EXPECT_EQ(shown(), std::nullopt);

  PartReport staging = report(attempt(job), PartState::staging);
  launcher.observe(n1, staging);
  launcher.drop_notices();
  staging.environment = EnvironmentReport{};
  staging.environment->platform = "linux-x86_64-python3.11";
  launcher.observe(n1, staging);
  launcher.drop_notices();
  ASSERT_TRUE(shown());
  EXPECT_EQ(shown()->step, EnvironmentReport::Step::wants_lock);
  EXPECT_EQ(shown()->platform, "linux-x86_64-python3.11");

  PartReport running = report(attempt(job), PartState::running);
  running.environment = EnvironmentReport{EnvironmentReport::Step::ready,
                                          0,
                                          "linux-x86_64-python3.11",
                                          sha256("lock"),
                                          sha256("key"),
                                          "built in 12.3 s"};
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_EQ(shown(), running.environment);

  PartReport end = running;
  end.state = PartState::finished;
  end.exit = node_exit({rank_exit(0)});
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(shown(), running.environment) << "kept, for who asks later";
}

}  // namespace
}  // namespace lockstep::launcher
