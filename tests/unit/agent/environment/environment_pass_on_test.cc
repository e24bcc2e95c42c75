// A node that cannot solve, and whether its parts wait for another node or end.

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/why/all/convert.h"
#include "tests/unit/agent/environment/environment_support.h"

namespace lockstep::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Step = EnvironmentReport::Step;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

struct PassOn : EnvironmentTest {
  void SetUp() override {
    EnvironmentTest::SetUp();
    ::setenv("PIP_RETRIES", "0", 1);
  }
  VenvEnvironment of_an_index(const std::string& url) {
    return {"/usr/bin/python3", {"--index-url " + url}, {"inner"}, {}};
  }
  // To be solved, with others that may do it as well.
  static Assignment first_of_several(Assignment assignment) {
    assignment.environment.solve = true;
    assignment.environment.others_may_solve = true;
    return assignment;
  }
};

TEST_F(PassOn, WhileOthersMaySolveANodeThatCannotWaitsAndTheLastOneFails) {
  Keeping node(dir / "home", locks);
  Assignment job = first_of_several(node.staged("j", of_an_index("http://127.0.0.1:9/simple")));
  node.environments->prepare(job);
  const auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] { return said.is_over() || !said.reports.empty(); }));
  ASSERT_FALSE(said.failed) << said.failed->error.message;
  const EnvironmentReport told = said.reports.back();
  EXPECT_EQ(told.step, Step::not_solved);
  EXPECT_THAT(told.platform, HasSubstr("-python3."));
  EXPECT_THAT(log_text(told.why), HasSubstr("inner"));
  EXPECT_LE(log_text(told.why).size(), kMaxNotSolvedBytes + 3);
  EXPECT_EQ(count(node.log_of(job), "another node of the job tries: "), 1U);

  // Asked the same again, it says the same; nothing is tried.
  job.environment.share = true;
  node.environments->prepare(job);
  ASSERT_TRUE(node.until([&] { return said.reports.size() == 2; }));
  EXPECT_EQ(said.reports.back(), told);
  EXPECT_EQ(count(node.log_of(job), "pip install --dry-run"), 1U);

  job.environment.solve = job.environment.others_may_solve = false;
  node.environments->prepare(job);
  ASSERT_TRUE(node.until([&] { return said.reports.size() == 3; }));
  EXPECT_EQ(said.reports.back().step, Step::wants_lock);
  EXPECT_FALSE(said.is_over());

  job.environment.solve = true;
  node.environments->prepare(job);
  ASSERT_TRUE(node.until([&] { return said.failed.has_value(); }));
  EXPECT_EQ(said.failed->cause, Cause::start_failed);
  EXPECT_EQ(count(node.log_of(job), "pip install --dry-run"), 2U) << node.log_of(job);
}

// A build that has told its end holds its entry a moment longer; the log there is still its own.
TEST_F(PassOn, WhoWaitsForTheBuildBeforeDoesNotGetItsLogAgain) {
  Keeping node(dir / "home", locks);
  Assignment job = first_of_several(node.staged("j", of_an_index("http://127.0.0.1:9/simple")));
  const auto& first = node.solve(job).reports;
  ASSERT_FALSE(first.empty());
  ASSERT_EQ(first.back().step, Step::not_solved);

  const auto entries = EnvironmentCache(dir / "home/environments").list();
  const auto solved = std::find_if(entries.begin(), entries.end(), [](const auto& item) {
    return item.entry.name().find("solve-") == 0;
  });
  ASSERT_NE(solved, entries.end());
  const std::string lock_file = solved->entry.lock_file();
  std::optional<EntryLock> held;
  ASSERT_TRUE(node.until([&] {
    held = EntryLock::try_acquire(lock_file, EntryLock::Kind::exclusive).value();
    return held.has_value();
  }));

  job.environment.solve = true;
  job.environment.others_may_solve = false;
  node.environments->prepare(job);
  const auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] {
    return !said.progress.empty() && said.progress.back().find("waiting: another process") == 0;
  }));
  held.reset();
  ASSERT_TRUE(node.until([&] { return said.failed.has_value(); }));
  EXPECT_EQ(count(node.log_of(job), "pip install --dry-run"), 2U) << node.log_of(job);
}

TEST_F(PassOn, AnotherGenerationIsTriedAnew) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  Assignment job = first_of_several(node.staged("j", of_an_index("http://127.0.0.1:9/simple")));
  node.environments->prepare(job);
  const auto& said = node.said[job.attempt];
  for (std::uint64_t generation : {0U, 7U}) {
    job.environment.generation = generation;
    node.environments->prepare(job);
    ASSERT_TRUE(node.until(
        [&] { return !said.reports.empty() && said.reports.back().generation == generation; }));
    EXPECT_EQ(said.reports.back().step, Step::not_solved);
  }
  EXPECT_EQ(count(node.log_of(job), "pip install --dry-run"), 2U);
}

TEST_F(PassOn, WhatAnotherNodeFoundIsBuilt) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  ASSERT_TRUE(
      node.prepare(node.staged("before", asks_for({"inner"}))).is_ready());  // it is fetched
  const EnvironmentReport solved = lock_of("inner", "1.0");
  const Assignment job =
      first_of_several(node.staged("j", of_an_index("http://127.0.0.1:9/simple")));
  node.environments->prepare(job);
  const auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] { return said.is_over() || !said.reports.empty(); }));
  EXPECT_THAT(said.progress, Not(Contains(HasSubstr("failed"))));
  node.build(job, solved);
  EXPECT_TRUE(said.is_ready()) << node.log_of(job);
}

TEST_F(PassOn, WhatCannotBeSolvedAnywhereIsNotPassedOn) {
  Keeping node(dir / "home", locks);
  const Assignment job = first_of_several(node.staged("j", asks_for({"inner"})));
  node.environments->prepare(job);
  const auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] { return said.is_over(); }));
  EXPECT_EQ(said.failed->cause, Cause::environment_failed);
  EXPECT_TRUE(said.reports.empty());
}

TEST_F(PassOn, AFolderThatThisNodeLacksMayBeOnAnother) {
  Keeping node(dir / "home", locks);
  ASSERT_TRUE(io::remove_tree(dir / "wheels"));
  const Assignment job = first_of_several(node.staged("j", asks_for({"inner"})));
  const auto& said = node.solve(job);
  ASSERT_FALSE(said.failed) << said.failed->error.message;
  EXPECT_EQ(said.reports.back().step, Step::not_solved);
  EXPECT_THAT(log_text(said.reports.back().why), HasSubstr("this node has no "));
}

TEST_F(PassOn, OfTwoThatWaitForOneSolvingEachGoesItsOwnWay) {
  Keeping node(dir / "home", locks);
  auto server = std::make_optional<test::SilentServer>();
  const Assignment waits = first_of_several(node.staged("waits", of_an_index(server->url())));
  Assignment ends = node.staged("ends", of_an_index(server->url()));
  ends.environment.solve = true;
  node.environments->prepare(waits);
  node.environments->prepare(ends);
  for (const Assignment& job : {waits, ends})
    ASSERT_TRUE(node.until(
        [&] { return node.log_of(job).find("pip install --dry-run") != std::string::npos; }));
  server.reset();
  const auto& said = node.said[waits.attempt];
  ASSERT_TRUE(node.until([&] { return node.said[ends.attempt].failed && !said.reports.empty(); }));
  EXPECT_EQ(node.said[ends.attempt].failed->cause, Cause::start_failed);
  EXPECT_EQ(said.reports.back().step, Step::not_solved);
  EXPECT_FALSE(said.failed);
}

}  // namespace
}  // namespace lockstep::agent
