// What ranks made outside the folders that are collected: found and named, or kept by patterns, in
// working directories of each mode.

#include "agent/workspace/collect/made_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/workspace/collect/rank_folders.h"
#include "common/io/process.h"
#include "tests/fakes/disk/deep_tree.h"
#include "tests/unit/agent/workspace/collect/collecting.h"

namespace lockstep::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A job with a source tree, in a working directory of the parameter's mode. In an overlay what
// ranks write lies in its upper directory, where a changed file is whole.
class MadeIn : public ::testing::TestWithParam<const char*> {
 protected:
  MadeIn() : f(GetParam()) {
    source.file("train.py", "print(1)");
    source.file("data/a.csv", "1,2");
    source.file("data/b.csv", "3,4");
  }
  void stage() { f.stage(f.capture_and_store(source)); }
  bool is_overlay() const { return std::string(GetParam()) == "overlay"; }

  snapshot::TempDir source;
  Collecting f;
};

TEST_P(MadeIn, NothingMadeIsNothingSaid) {
  stage();
  EXPECT_EQ(is_anything_left(f.job, f.attempt()), !is_overlay()) << "a copy must be looked at";
  ASSERT_TRUE(f.collect());
  EXPECT_FALSE(f.not_kept);
  EXPECT_EQ(f.sink.pushes, 0);
}

TEST_P(MadeIn, NewAndChangedFilesAreNamedTheLargestFirst) {
  stage();
  f.write("model.pt", std::string(1'000, 'm'));
  f.write("checkpoints/1/weights", std::string(3'000, 'w'));
  f.write("checkpoints/2/weights", std::string(3'000, 'w'));
  f.write("data/b.csv", "5,6");
  f.write("outputs/kept", "k");
  EXPECT_TRUE(is_anything_left(f.job, f.attempt()));
  ASSERT_TRUE(f.collect());
  ASSERT_TRUE(f.not_kept);
  EXPECT_THAT(f.not_kept->names, ElementsAre("checkpoints/", "model.pt", "data/"));
  EXPECT_EQ(f.not_kept->files, 4u);
  EXPECT_EQ(f.not_kept->size.count, 7'003u);
  EXPECT_EQ(f.not_kept->more, 0u);
  EXPECT_FALSE(f.not_kept->at_least);
}

TEST_P(MadeIn, WhatToolsLeaveForThemselvesIsNoWork) {
  stage();
  f.write("__pycache__/train.cpython-311.pyc", "x");
  f.write("data/__pycache__/x.pyc", "x");
  f.write(".ipynb_checkpoints/a", "x");
  f.write(".pytest_cache/v", "x");
  ASSERT_EQ(::mkfifo((f.written + "/pipe").c_str(), 0644), 0);
  ASSERT_EQ(::symlink("train.py", (f.written + "/link").c_str()), 0);
  ASSERT_EQ(::mkdir((f.written + "/empty").c_str(), 0755), 0);
  ASSERT_TRUE(f.collect());
  EXPECT_FALSE(f.not_kept);
}

TEST_P(MadeIn, PatternsBringFilesBackAndTheRestIsNamed) {
  stage();
  f.job.spec.keep = {"*.pt", "checkpoints/", "!*.tmp", "/data/a.csv", "nothing-*"};
  f.write("model.pt", "model");
  f.write("deep/er/other.pt", "other");
  f.write("checkpoints/1/weights", "weights");
  f.write("checkpoints/1/half.tmp", "half");
  f.write("data/a.csv", "changed");
  f.write("scratch", "scratch");
  ASSERT_EQ(::symlink("1", (f.written + "/checkpoints/last").c_str()), 0);
  const CollectedOutput kept = f.must_collect(OutputKind::kept, "k");
  EXPECT_EQ(kept.files, 4u);
  EXPECT_TRUE(kept.problems.empty());
  EXPECT_EQ(*io::read_file(f.dir / "k/model.pt"), "model");
  EXPECT_EQ(*io::read_file(f.dir / "k/deep/er/other.pt"), "other");
  EXPECT_EQ(*io::read_file(f.dir / "k/checkpoints/last/weights"), "weights");
  EXPECT_EQ(*io::read_file(f.dir / "k/data/a.csv"), "changed");
  EXPECT_EQ(*io::list_directory(f.dir / "k/checkpoints/1"), std::vector<std::string>{"weights"});
  EXPECT_THAT(*io::list_directory(f.dir / "k"),
              ElementsAre("checkpoints", "data", "deep", "model.pt"));
  ASSERT_TRUE(f.not_kept);
  EXPECT_THAT(f.not_kept->names, ElementsAre("scratch", "checkpoints/"));
  EXPECT_THAT(f.not_kept->unmatched, ElementsAre(4u));
}

TEST_P(MadeIn, AStagedFileThatNobodyChangedMatchesNoPattern) {
  stage();
  f.job.spec.keep = {"*.csv", "data/"};
  ASSERT_TRUE(f.collect());
  EXPECT_EQ(f.sink.pushes, 0);
  ASSERT_TRUE(f.not_kept);
  EXPECT_THAT(f.not_kept->unmatched, ElementsAre(0u, 1u));
  EXPECT_TRUE(f.not_kept->names.empty());
}

TEST_P(MadeIn, WhatCannotBeKeptIsNamedAndTheRestIsKept) {
  stage();
  f.job.spec.keep = {"good", "pipe"};
  f.write("good", "1");
  ASSERT_EQ(::mkfifo((f.written + "/pipe").c_str(), 0644), 0);
  ASSERT_EQ(::mkfifo((f.written + "/other").c_str(), 0644), 0);
  const CollectedOutput kept = f.must_collect(OutputKind::kept);
  EXPECT_EQ(kept.files, 1u);
  EXPECT_THAT(kept.problems, ElementsAre("pipe was left out: a fifo"));
}

TEST_P(MadeIn, FilesThatFindNoSpaceAreAProblemOfTheirsAlone) {
  stage();
  f.job.spec.keep = {"*.pt"};
  f.write("outputs/a", "1");
  f.write("model.pt", "2");
  f.sink.answers = {Status(), make_error(ErrorCode::resource_exhausted, "was not kept")};
  const auto all = f.collect();
  ASSERT_TRUE(all);
  ASSERT_THAT(*all, SizeIs(2));
  EXPECT_TRUE(all->at(0).tree);
  EXPECT_FALSE(all->at(1).tree);
  EXPECT_THAT(all->at(1).problems, ElementsAre("was not kept"));
}

TEST_P(MadeIn, ALauncherThatIsAwayIsWaitedFor) {
  stage();
  f.job.spec.keep = {"*.pt"};
  f.write("model.pt", "2");
  f.sink.answers = {make_error(ErrorCode::unavailable, "no answer")};
  const auto all = f.collect();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::unavailable);
}

INSTANTIATE_TEST_SUITE_P(Mode, MadeIn, ::testing::Values("copy", "overlay"));

TEST(Made, FilesOfTheSourceThatTheJobRemovedAreNotLost) {
  Collecting f("overlay");
  snapshot::TempDir source;
  source.file("a", "1");
  f.stage(f.capture_and_store(source));
  if (::mknod((f.written + "/a").c_str(), S_IFCHR | 0600, makedev(0, 0)) != 0)
    GTEST_SKIP() << "this kernel makes no whiteouts";
  EXPECT_FALSE(is_anything_left(f.job, f.attempt()));
  ASSERT_TRUE(f.collect());
  EXPECT_FALSE(f.not_kept);
}

TEST(Made, TenNamesAreSaidSafelyAndTheOthersCounted) {
  Collecting f("copy");
  f.stage({});
  for (int i = 0; i < 13; ++i) f.write("file" + std::to_string(i), "1");
  f.write("a\nnot kept: nothing", "12");
  f.write("nnn" + std::string(200, 'o'), "123");
  ASSERT_TRUE(f.collect());
  ASSERT_TRUE(f.not_kept);
  EXPECT_EQ(f.not_kept->files, 15u);
  ASSERT_THAT(f.not_kept->names, SizeIs(kMaxNotKeptNames));
  EXPECT_EQ(f.not_kept->more, 5u);
  EXPECT_THAT(f.not_kept->names[0], HasSubstr("nnno"));
  EXPECT_LE(f.not_kept->names[0].size(), kMaxNotKeptNameBytes);
  EXPECT_EQ(f.not_kept->names[1], "\"a\\nnot kept: nothing\"");
}

TEST(Made, TheWorstNameFitsItsBound) {
  Collecting f("copy");
  f.stage({});
  f.write(std::string(250, '\x01') + "/x", "1");
  ASSERT_TRUE(f.collect());
  ASSERT_TRUE(f.not_kept);
  EXPECT_LE(f.not_kept->names[0].size(), kMaxNotKeptNameBytes);
}

TEST(Made, AHostileDepthIsNotFollowedAndIsNamed) {
  Collecting f("copy");
  f.stage({});
  test::make_deep_tree(f.written + "/deep", 20'000);
  f.write("model.pt", "1");
  ASSERT_TRUE(f.collect());
  ASSERT_TRUE(f.not_kept);
  EXPECT_TRUE(f.not_kept->at_least);
  EXPECT_THAT(f.not_kept->names, ElementsAre("model.pt", "deep/"));
  EXPECT_EQ(f.not_kept->files, 1u);
}

TEST(Made, MoreEntriesThanTheBoundAreSaidToBeAtLeastSoMany) {
  Collecting f("copy");
  f.stage({});
  f.job.spec.keep = {"nothing"};
  ASSERT_EQ(::mkdir((f.written + "/many").c_str(), 0755), 0);
  const io::Fd many(::open((f.written + "/many").c_str(), O_RDONLY | O_DIRECTORY));
  for (std::size_t i = 0; i < kMostLookedAt + 1'000; ++i)
    ASSERT_EQ(::mknodat(many.get(), std::to_string(i).c_str(), S_IFREG | 0600, 0), 0);
  ASSERT_TRUE(f.collect());
  ASSERT_TRUE(f.not_kept);
  EXPECT_TRUE(f.not_kept->at_least);
  EXPECT_LE(f.not_kept->files, kMostLookedAt);
  EXPECT_THAT(f.not_kept->names, ElementsAre("many/"));
  EXPECT_TRUE(f.not_kept->unmatched.empty()) << "nobody knows";
}

// ---- with the rights of the job's user ------------------------------------------------------

TEST(Made, NoSymlinkLeadsTheLookOutOfTheWorkingDirectory) {
  Collecting f("copy");
  f.stage({});
  f.job.spec.keep = {"out/", "*.txt"};
  const snapshot::TempDir elsewhere;
  elsewhere.file("secret.txt", "precious");
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), (f.written + "/out").c_str()), 0);
  ASSERT_TRUE(f.collect());
  EXPECT_EQ(f.sink.pushes, 0);
  ASSERT_TRUE(f.not_kept);
  EXPECT_TRUE(f.not_kept->names.empty());
  EXPECT_EQ(f.not_kept->files, 0u);
}

TEST(Made, RootLooksAndReadsAsTheJobsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can stage for others";
  Collecting f("copy");
  f.job = f.assignment({}, 1, "nobody");
  f.job.spec.keep = {"*"};
  ASSERT_EQ(std::system(("chmod -R a+rwX " + (f.dir / "launcher")).c_str()), 0);
  const WorkspacePlan plan = f.must_stage(f.job);
  Collecting::put(f.attempt().workspace(), wire::encode(plan));
  f.written = f.attempt().code();
  f.write("good", "1");
  f.write("roots/own", "23");
  f.write("secret", "456");
  ASSERT_EQ(::chmod((f.written + "/roots").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((f.written + "/secret").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/etc/shadow", (f.written + "/shadow").c_str()), 0);
  const CollectedOutput kept = f.must_collect(OutputKind::kept, "k");
  EXPECT_EQ(kept.files, 1u);
  EXPECT_THAT(kept.problems, ElementsAre("roots/ was left out: permission denied",
                                         "secret was left out: permission denied"));
  struct stat info {};
  ASSERT_EQ(::lstat((f.dir / "k/shadow").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_TRUE(f.not_kept);
  EXPECT_TRUE(f.not_kept->at_least) << "nobody could look into roots/";
}

}  // namespace
}  // namespace lockstep::agent
