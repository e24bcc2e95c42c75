// How parts get their environments: solved and built once for all who wait, reused, and told.

#include "common/domain/why/ranks/parts.h"
#include "tests/unit/agent/environment/environment_support.h"

#include <fmt/format.h>
#include <signal.h>

namespace lockstep::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Step = EnvironmentReport::Step;

TEST_F(EnvironmentTest, AHostInterpreterBecomesTheRanksPython) {
  Keeping node(dir / "home", locks);
  const Assignment job = node.staged("j", HostEnvironment{"/usr/bin/python3"});
  const auto& said = node.prepare(job);
  ASSERT_TRUE(said.is_ready()) << node.log_of(job);
  EXPECT_EQ(node.activation_of(job).interpreter, "/usr/bin/python3");
  EXPECT_FALSE(said.reports.back().lock);
  EXPECT_THAT(said.reports.back().platform, HasSubstr("-python3."));
  EXPECT_THAT(said.reports.back().how, StartsWith("built in "));
  EXPECT_EQ(said.log_bytes, node.log_of(job).size());
}

TEST_F(EnvironmentTest, WithoutAnInterpreterPathStaysAsItIs) {
  Keeping node(dir / "home", locks);
  const Assignment job = node.staged("j", HostEnvironment{});
  ASSERT_TRUE(node.prepare(job).is_ready());
  EXPECT_EQ(node.activation_of(job), Activation());
}

TEST_F(EnvironmentTest, AnInterpreterThatIsNotThereFailsTheJobByName) {
  Keeping node(dir / "home", locks);
  const auto& said = node.prepare(node.staged("j", HostEnvironment{"/nope/python"}));
  ASSERT_TRUE(said.failed);
  EXPECT_EQ(said.failed->cause, Cause::environment_failed);
  EXPECT_THAT(said.failed->error.message, HasSubstr("'/nope/python' does not exist"));
  const auto& folder = node.prepare(node.staged("k", HostEnvironment{"/tmp"}));
  ASSERT_TRUE(folder.failed);
  EXPECT_THAT(folder.failed->error.message, HasSubstr("'/tmp' is a directory"));
}

TEST_F(EnvironmentTest, AnInterpreterThatDoesNotAnswerYetIsNamedMeanwhile) {
  const std::string flag = dir / "flag", slow = dir / "slow";
  dir.file("slow",
           fmt::format("#!/bin/sh\nuntil [ -e {} ]; do sleep 0.01; done\n"
                       "exec /usr/bin/python3 \"$@\"\n",
                       flag),
           0755);
  Keeping node(dir / "home", locks);
  const Assignment job = node.staged("j", HostEnvironment{slow});
  node.environments->prepare(job);
  auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] { return !said.progress.empty(); }));
  EXPECT_EQ(said.progress.front(), fmt::format("asking {} for its version", slow));
  EXPECT_FALSE(said.is_over());
  dir.file("flag", "");
  EXPECT_TRUE(node.until([&] { return said.is_ready(); })) << node.log_of(job);
}

TEST_F(EnvironmentTest, AVenvIsSolvedStoredBuiltAndReused) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  const Assignment first = node.staged("first", asks_for({"inner"}));
  const auto& built = node.prepare(first);
  ASSERT_TRUE(built.is_ready()) << node.log_of(first);
  EXPECT_EQ(version_in(node.activation_of(first), "inner"), "1.0\n");
  ASSERT_EQ(locks.texts.size(), 1U);
  EXPECT_EQ(built.reports.back().lock, locks.texts.begin()->first);
  EXPECT_THAT(node.log_of(first), HasSubstr("pip install --dry-run"));
  EXPECT_THAT(node.log_of(first), HasSubstr("built in "));

  const Assignment second = node.staged("second", asks_for({"inner"}));
  node.environments->prepare(Keeping::locked(second, built.reports.back()));
  ASSERT_TRUE(node.until([&] { return node.said[second.attempt].is_over(); }));
  const auto& reused = node.said[second.attempt];
  EXPECT_THAT(reused.reports.back().how, StartsWith("was ready since "));
  EXPECT_EQ(reused.reports.back().key, built.reports.back().key);
  EXPECT_THAT(node.log_of(second), HasSubstr("reused, built "));
  EXPECT_THAT(node.log_of(second), HasSubstr("by job first"));
  EXPECT_EQ(node.activation_of(second), node.activation_of(first));
  EXPECT_EQ(locks.fetches, 1);  // of the build alone
}

TEST_F(EnvironmentTest, ReuseTakesFewMillisecondsAndStartsNoProcess) {
  Keeping node(dir / "home", locks);
  const EnvironmentDefinition definition = HostEnvironment{"/usr/bin/python3"};
  ASSERT_TRUE(node.prepare(node.staged("first", definition)).is_ready());
  io::SystemClock clock;
  std::vector<Duration> took;
  for (int i = 0; i < 50; ++i) {
    const Assignment job = node.staged("j" + std::to_string(i), definition);
    const Instant began = clock.now();
    node.environments->prepare(job);
    ASSERT_TRUE(turn_until([&] { node.loop.turn(milliseconds(1)); },
                           [&] { return node.said[job.attempt].is_over(); }));
    took.push_back(clock.now() - began);
    EXPECT_THAT(node.said[job.attempt].reports.back().how, StartsWith("was ready since "));
  }
  std::sort(took.begin(), took.end());
  const double median_ms = std::chrono::duration<double, std::milli>(took[took.size() / 2]).count();
  RecordProperty("median_ms", std::to_string(median_ms));
  EXPECT_LT(median_ms, 5.0);
}

TEST_F(EnvironmentTest, TwentyThatWantOneShareOneBuildAndEachHasItsWholeLog) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  std::vector<Assignment> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(node.staged("j" + std::to_string(i), asks_for({"inner"})));
    jobs.back().environment.solve = i == 0;
    node.environments->prepare(jobs.back());
  }
  Keeping::Said& solver = node.said[jobs[0].attempt];
  ASSERT_TRUE(node.until(
      [&] { return !solver.reports.empty() && solver.reports.back().step == Step::solved; }));
  for (const Assignment& job : jobs) {
    EXPECT_EQ(node.said[job.attempt].reports.front().step,
              job.environment.solve ? Step::solved : Step::wants_lock);
    node.environments->prepare(Keeping::locked(job, solver.reports.back()));
  }
  ASSERT_TRUE(node.until([&] {
    return std::all_of(jobs.begin(), jobs.end(),
                       [&](const auto& job) { return node.said[job.attempt].is_over(); });
  }));
  int builds = 0;
  for (const Assignment& job : jobs) {
    ASSERT_TRUE(node.said[job.attempt].is_ready()) << node.log_of(job);
    EXPECT_THAT(node.log_of(job), HasSubstr("pip install --no-deps"));
    EXPECT_EQ(node.said[job.attempt].log_bytes, node.log_of(job).size());
    builds += node.said[job.attempt].reports.back().how.starts_with("built in ");
  }
  EXPECT_EQ(builds, 20);  // all of them waited for it
  EXPECT_EQ(locks.fetches, 1);
  EXPECT_EQ(node.built().size(), 1U);
}

TEST_F(EnvironmentTest, WhoJoinsLateGetsTheLogFromItsStart) {
  Keeping node(dir / "home", locks);
  Assignment early = node.staged("early", never()), late = node.staged("late", never());
  early.environment.solve = late.environment.solve = true;
  node.environments->prepare(early);
  ASSERT_TRUE(node.until(
      [&] { return node.log_of(early).find("pip install --dry-run") != std::string::npos; }));
  node.environments->prepare(late);
  ASSERT_TRUE(node.until(
      [&] { return node.log_of(late).find("pip install --dry-run") != std::string::npos; }));
  EXPECT_THAT(node.log_of(late), StartsWith("this node solves the environment for linux-"));
  EXPECT_THAT(node.said[early.attempt].progress, Contains(StartsWith("solving")));
}

TEST_F(EnvironmentTest, ALogFromBeforeIsContinued) {
  Keeping node(dir / "home", locks);
  const Assignment job = node.staged("j", HostEnvironment{});
  const auto path = node.home.attempt(job.attempt).log(0, LogStream::environment);
  ASSERT_TRUE(io::write_file_atomically(path, "from before\n", 0600, false));
  ASSERT_TRUE(node.prepare(job).is_ready());
  EXPECT_THAT(node.log_of(job), StartsWith("from before\nenvironment "));
}

TEST_F(EnvironmentTest, WhenAllHaveLeftNothingWorksOn) {
  Keeping node(dir / "home", locks);
  Assignment one = node.staged("one", never()), other = node.staged("other", never());
  one.environment.solve = other.environment.solve = true;
  node.environments->prepare(one);
  node.environments->prepare(other);
  const auto tools = [] { return io::descendants_of(::getpid()); };
  ASSERT_TRUE(
      node.until([&] { return node.log_of(other).find("--dry-run") != std::string::npos; }));
  node.environments->leave(one.attempt);
  node.loop.turn(milliseconds(300));
  EXPECT_FALSE(tools().empty());
  node.environments->leave(other.attempt);
  EXPECT_TRUE(node.until([&] { return tools().empty(); }, seconds(20)));
  EXPECT_FALSE(node.said[one.attempt].is_over());
  EXPECT_FALSE(node.said[other.attempt].is_over());
}

TEST_F(EnvironmentTest, WhatCannotBeSolvedIsRememberedUntilItIsRebuilt) {
  Keeping node(dir / "home", locks);
  const Assignment first = node.staged("first", asks_for({"inner"}));
  const auto& failed = node.prepare(first);
  ASSERT_TRUE(failed.failed);
  EXPECT_EQ(failed.failed->cause, Cause::environment_failed);
  EXPECT_THAT(failed.failed->error.message, HasSubstr("inner"));
  EXPECT_EQ(failed.failed->log_bytes, node.log_of(first).size());

  wheel("inner", "1.0");  // it would work now
  const Assignment second = node.staged("second", asks_for({"inner"}));
  const auto& again = node.prepare(second);
  ASSERT_TRUE(again.failed);
  const auto* before = again.failed->why.as<EnvironmentFailedBefore>();
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->job, JobId("first"));
  EXPECT_NE(before->at.ns, 0);
  EXPECT_THAT(before->environment, HasSubstr("(venv, "));
  EXPECT_EQ(before->said, failed.failed->error.message);
  EXPECT_THAT(node.log_of(second), HasSubstr("failed before, on 2"));
  EXPECT_THAT(node.log_of(second), HasSubstr("for job first"));
  EXPECT_THAT(node.log_of(second), HasSubstr("pip install --dry-run"));  // the log of then

  Assignment rebuilt = node.staged("third", asks_for({"inner"}));
  rebuilt.environment.generation = 7;
  EXPECT_FALSE(node.solve(rebuilt).failed) << node.log_of(rebuilt);
}

TEST_F(EnvironmentTest, AnIndexThatIsAwayIsNotRemembered) {
  Keeping node(dir / "home", locks);
  VenvEnvironment asked{
      "/usr/bin/python3", {"--index-url http://127.0.0.1:9/simple"}, {"inner"}, {}};
  for (const char* name : {"first", "second"}) {
    const auto& said = node.prepare(node.staged(name, asked));
    ASSERT_TRUE(said.failed);
    EXPECT_EQ(said.failed->cause, Cause::start_failed);
    EXPECT_FALSE(said.failed->why);
  }
}

// Nor if an agent of an earlier version did remember it.
TEST_F(EnvironmentTest, WhatLacksHereIsLookedForAgainByTheNextJob) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  ASSERT_EQ(::rename((dir / "wheels").c_str(), (dir / "away").c_str()), 0);
  const Assignment first = node.staged("first", asks_for({"inner"}));
  const auto& failed = node.prepare(first);
  ASSERT_TRUE(failed.failed);
  EXPECT_EQ(failed.failed->cause, Cause::environment_failed);
  EXPECT_THAT(failed.failed->error.message, HasSubstr("this node has no "));
  const std::string entry = fmt::format("{}/{}/{}", node.home.environments(), ::geteuid(),
                                        io::read_environment(node.home.attempt(first.attempt)));
  EXPECT_FALSE(io::exists(entry + "/failure.json"));
  put(entry + "/failure.json", R"({"code": "corrupt", "message": "m", "at_ns": 1, "job": "j"})");

  ASSERT_EQ(::rename((dir / "away").c_str(), (dir / "wheels").c_str()), 0);
  const Assignment second = node.staged("second", asks_for({"inner"}));
  EXPECT_TRUE(node.prepare(second).is_ready()) << node.log_of(second);
}

TEST_F(EnvironmentTest, AnotherGenerationIsSolvedAndBuiltAnew) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  const EnvironmentReport solved = lock_of("inner", "1.0");
  Assignment first = node.staged("first", asks_for({"inner"})),
             second = node.staged("second", asks_for({"inner"}));
  second.environment.generation = 1;
  const auto& one = node.build(first, solved);
  const auto& other = node.build(second, solved);
  ASSERT_TRUE(one.is_ready() && other.is_ready());
  EXPECT_THAT(other.reports.back().how, StartsWith("built in"));
  EXPECT_NE(one.reports.back().key, other.reports.back().key);
  EXPECT_EQ(node.built().size(), 2U);
}

TEST_F(EnvironmentTest, APlanThatChangesLeadsToTheEnvironmentItNamesNow) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  const EnvironmentReport solved = lock_of("inner", "1.0");
  Assignment job = node.staged("j", asks_for({"inner"}));
  node.environments->prepare(job);
  ASSERT_TRUE(node.until([&] { return !node.said[job.attempt].reports.empty(); }));
  EXPECT_EQ(node.said[job.attempt].reports.back().step, Step::wants_lock);
  job.environment.locks = {{"linux-other-python2.7", sha256("x")}};
  node.environments->prepare(job);  // of no use to this node
  node.environments->prepare(Keeping::locked(job, solved));
  ASSERT_TRUE(node.until([&] { return node.said[job.attempt].is_over(); }));
  EXPECT_TRUE(node.said[job.attempt].is_ready());
  const std::string log = node.log_of(job);
  EXPECT_EQ(log.find("waiting for a node to solve"), log.rfind("waiting for a node to solve"));
}

// A plan with other virtual packages is of another environment.
TEST_F(EnvironmentTest, CondaAsksForThePlatformOfItsPlanAndNoInterpreter) {
  Keeping node(dir / "home", locks);
  CondaEnvironment conda;
  conda.dependencies = {"zlib"};
  Assignment job = node.staged("j", conda);
  const auto& said = node.said[job.attempt];
  for (const char* glibc : {"__glibc=2.36", "__glibc=2.31"}) {
    job.environment.virtual_packages = {"__cuda=12.4", glibc};
    node.environments->prepare(job);
    ASSERT_TRUE(node.until(
        [&] { return !said.reports.empty() && said.reports.back().platform.ends_with(glibc); }));
    EXPECT_EQ(said.reports.back().step, Step::wants_lock);
  }
  EXPECT_FALSE(said.failed);
  EXPECT_FALSE(io::exists(node.home.environments() + "/" + std::to_string(::geteuid())))
      << "where an interpreter would be asked";
}

TEST_F(EnvironmentTest, ALauncherThatIsAwayIsWaitedFor) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  locks.is_away = true;
  Assignment job = node.staged("j", asks_for({"inner"}));
  job.environment.solve = true;
  node.environments->prepare(job);
  auto& said = node.said[job.attempt];
  const auto waits = [&] {
    return !said.progress.empty() &&
           said.progress.back().find("the launcher is away") != std::string::npos;
  };
  ASSERT_TRUE(node.until(waits)) << node.log_of(job);
  EXPECT_FALSE(said.is_over());
  {
    const std::lock_guard guard(locks.mutex);
    locks.is_away = false;
  }
  ASSERT_TRUE(node.until([&] { return !said.reports.empty(); }));
  EXPECT_EQ(said.reports.back().step, Step::solved);
}

}  // namespace
}  // namespace lockstep::agent
