// A root agent stages for a user who changes names in the working directory at every moment that
// it has: between any two system calls.

#include <sys/stat.h>
#include <unistd.h>

#include "common/io/process.h"
#include "tests/fakes/disk/deep_tree.h"
#include "tests/fakes/disk/swaps.h"
#include "tests/unit/agent/workspace/collect/collecting.h"

namespace lockstep::agent {
namespace {

bool belongs_to(const std::string& path, uid_t uid) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && info.st_uid == uid;
}

class StagedForAnother : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can stage for others";
  }
};

TEST_P(StagedForAnother, NoCheckpointBeyondTheWorkingDirectoryIsRemovedOrGivenAway) {
  Fixture f(GetParam());
  const uid_t nobody = io::find_user("nobody")->uid;
  const snapshot::TempDir saved;
  saved.file("step", "100");
  saved.file("closed/file", "x");
  saved.folder("closed", 0555);
  const test::Canary canary(f.dir / "elsewhere/checkpoint");
  const snapshot::TempDir source;
  source.file("train.py", "print(1)");
  Assignment assignment = f.assignment(f.capture_and_store(source), 2, "nobody");
  assignment.checkpoint = CheckpointSource{};
  assignment.checkpoint->trees = {{0, f.capture_and_store(saved)}};
  const bool is_copy = std::string(GetParam()) == "copy";
  const std::string working = is_copy ? f.attempt(2).code() : f.attempt(2).upper();
  const std::string reserved = working + "/" + std::string(kReservedFolder);
  int swapped = 0;
  bool restored = false;
  const int calls = test::each_swap(
      [&] { ASSERT_TRUE(io::remove_tree(f.attempt(2).path())); },
      [&] {
        if (!belongs_to(working, nobody)) return;  // the user cannot write there yet
        ::rename(reserved.c_str(), (working + "/aside").c_str());
        ASSERT_EQ(::symlink((f.dir / "elsewhere").c_str(), reserved.c_str()), 0);
        ++swapped;
      },
      [&] {
        restored = f.workspace->stage(assignment, f.attempt(2), f.launcher, f.progress).has_value();
      },
      [&] { canary.is_untouched(); });
  EXPECT_GT(calls, 20);
  EXPECT_GT(swapped, 8);
  EXPECT_TRUE(restored) << "the last one, with nothing swapped";
  EXPECT_TRUE(belongs_to(reserved + "/checkpoint/closed/file", nobody));
}

INSTANTIATE_TEST_SUITE_P(Mode, StagedForAnother, ::testing::Values("copy", "overlay"));

TEST(DeepOutputs, AreRefusedInWordsAndTheAttemptIsRemoved) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/kept", "k");
  test::make_deep_tree(f.written + "/outputs/deep", 1'000);
  const CollectedOutput left = f.must_collect(OutputKind::outputs, "collected");
  ASSERT_EQ(left.problems.size(), 1u);
  EXPECT_NE(left.problems[0].find("is more than 256 folders deep"), std::string::npos)
      << left.problems[0];
  EXPECT_LT(left.problems[0].size(), 2'000u);
  EXPECT_EQ(*io::read_file(f.dir / "collected/kept"), "k");
}

}  // namespace
}  // namespace lockstep::agent
