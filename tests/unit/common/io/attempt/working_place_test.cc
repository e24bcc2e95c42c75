// One path for all attempts of a job where a runner can mount nothing.

#include "common/io/attempt/working_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

class WorkingPlaceTest : public ::testing::Test {
 protected:
  AttemptDir attempt(int number) const {
    const AttemptDir made(home_ / "attempts/job." + std::to_string(number));
    EXPECT_TRUE(make_directories(made.code()));
    std::ofstream(made.code() + "/made_by") << number;
    return made;
  }
  std::string maker(const std::string& folder) const {
    return read_file(folder + "/made_by").value_or("");
  }

  const test::TempDir home_;
  const std::string path_ = home_ / "jobs/job";
};

TEST_F(WorkingPlaceTest, IsWhereTheFilesAreUntilItIsGivenBack) {
  const AttemptDir first = attempt(1);
  EXPECT_EQ(working_directory(first), first.code());
  auto place = WorkingPlace::take(first, path_);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(maker(path_), "1");
  EXPECT_FALSE(exists(first.code()));
  EXPECT_EQ(working_directory(first), path_);
  EXPECT_EQ(holder_of_place(path_), first.path());
  EXPECT_EQ(bring_back(first).error().code, ErrorCode::unavailable) << "its runner lives";
  EXPECT_TRUE(place->give_back());
  EXPECT_EQ(maker(first.code()), "1");
  EXPECT_EQ(working_directory(first), first.code());
  EXPECT_FALSE(exists(path_));
  EXPECT_FALSE(exists(path_ + ".lock"));
  EXPECT_FALSE(exists(first.placed()));
  EXPECT_EQ(holder_of_place(path_), "");
}

TEST_F(WorkingPlaceTest, IsTheSameForTheNextAttemptAndForNobodyMeanwhile) {
  const AttemptDir first = attempt(1), second = attempt(2);
  auto held = WorkingPlace::take(first, path_);
  ASSERT_TRUE(held);
  EXPECT_EQ(WorkingPlace::take(second, path_).error().code, ErrorCode::conflict);
  EXPECT_EQ(maker(path_), "1");
  EXPECT_EQ(maker(second.code()), "2");
  ASSERT_TRUE(held->give_back());
  auto next = WorkingPlace::take(second, path_);
  ASSERT_TRUE(next);
  EXPECT_EQ(maker(path_), "2");
}

TEST_F(WorkingPlaceTest, IsWaitedForOnlyWhereTheSameJobHasIt) {
  const AttemptDir first = attempt(1), second = attempt(2);
  const JobId job("job");
  EXPECT_FALSE(is_held_by_same_job(path_, second, job));
  auto held = WorkingPlace::take(first, path_);
  ASSERT_TRUE(held);
  EXPECT_TRUE(is_held_by_same_job(path_, second, job));
  EXPECT_FALSE(is_held_by_same_job(path_, first, job)) << "it is its own";
  EXPECT_FALSE(is_held_by_same_job(path_, AttemptDir(home_ / "attempts/other.1"), JobId("other")));
  EXPECT_FALSE(is_held_by_same_job(path_, AttemptDir(home_ / "n2/attempts/job.2"), job));
  EXPECT_TRUE(held->give_back());
}

// A runner that is killed gives nothing back.
void take_and_die(const AttemptDir& directory, const std::string& path) {
  const pid_t child = fork();
  if (child == 0) _exit(WorkingPlace::take(directory, path) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST_F(WorkingPlaceTest, OfADeadRunnerIsMovedBackByWhoLooks) {
  const AttemptDir first = attempt(1);
  take_and_die(first, path_);
  EXPECT_EQ(working_directory(first), path_);
  EXPECT_TRUE(bring_back(first));
  EXPECT_EQ(maker(first.code()), "1");
  EXPECT_FALSE(exists(path_ + ".lock"));
  EXPECT_TRUE(bring_back(first)) << "again";
}

TEST_F(WorkingPlaceTest, OfADeadRunnerIsMovedBackByTheNextAttempt) {
  const AttemptDir first = attempt(1), second = attempt(2);
  take_and_die(first, path_);
  auto place = WorkingPlace::take(second, path_);
  ASSERT_TRUE(place);
  EXPECT_EQ(maker(first.code()), "1");
  EXPECT_EQ(maker(path_), "2");
  EXPECT_TRUE(bring_back(first));
  EXPECT_EQ(maker(path_), "2");
}

TEST_F(WorkingPlaceTest, OfAnAttemptThatWasRemovedIsNobodys) {
  const AttemptDir first = attempt(1), second = attempt(2);
  take_and_die(first, path_);
  ASSERT_TRUE(remove_tree(first.path()));
  auto place = WorkingPlace::take(second, path_);
  ASSERT_TRUE(place);
  EXPECT_EQ(maker(path_), "2");
}

TEST_F(WorkingPlaceTest, WhoseFolderWasRemovedIsNoHindrance) {
  const AttemptDir first = attempt(1);
  take_and_die(first, path_);
  ASSERT_TRUE(remove_tree(home_ / "jobs"));
  EXPECT_TRUE(bring_back(first));
  EXPECT_FALSE(exists(first.placed()));
}

TEST_F(WorkingPlaceTest, IsNotTakenBelowAFolderOfOthers) {
  const AttemptDir first = attempt(1);
  ASSERT_TRUE(make_directories(home_ / "jobs"));
  ASSERT_EQ(chmod((home_ / "jobs").c_str(), 0777), 0);
  EXPECT_EQ(WorkingPlace::take(first, path_).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(maker(first.code()), "1");
}

TEST_F(WorkingPlaceTest, HasAPathThatBelongsToTheAgentAlone) {
  const auto paths = working_places(AttemptDir("/a b/node/attempts/job.3"), JobId("job"));
  ASSERT_FALSE(paths.empty());
  EXPECT_EQ(paths.back(), "/a b/node/jobs/job");
  if (const std::string common = code_mount_point(JobId("job")); !common.empty()) {
    EXPECT_EQ(paths.front(), common);
  }
}

}  // namespace
}  // namespace lockstep::io
