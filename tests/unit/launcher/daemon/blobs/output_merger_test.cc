// Which failures of a merge are the output's, and after which ones it is tried again.

#include "launcher/daemon/blobs/output_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct OutputMergerTest : ::testing::Test {
  Digest stored(const std::string& text) {
    test::TempDir files;
    files.file("f", text);
    const auto captured = *snapshot::capture(files.path(), {});
    snapshot::store_all(captured, *store);
    return captured.root;
  }
  // Each reading of a folder ends like this.
  Result<std::vector<MergedOutput>> merged(const Status& end) {
    const MergeOutputs question{
        JobId("job"),
        {{"model", OutputType::uri_folder, {{0, stored("a")}, {1, stored("b")}}, {}}}};
    TRY_ASSIGN(MergedTrees all, merge_outputs(*store, question, [end] { return end; }));
    return std::move(all.outputs);
  }

  test::TempDir home;
  std::unique_ptr<snapshot::BlobStore> store = *snapshot::BlobStore::open(home / "blobs");
};

TEST_F(OutputMergerTest, ATreeBeyondTheBoundsIsTheOutputsProblem) {
  const auto outputs = merged(make_error(ErrorCode::invalid_argument, "more than 5 files"));
  ASSERT_TRUE(outputs) << "the job would wait for ever: " << outputs.error().message;
  EXPECT_FALSE(outputs->at(0).tree);
  EXPECT_THAT(outputs->at(0).problems, ElementsAre(HasSubstr("more than 5 files")));
}

TEST_F(OutputMergerTest, OutputsThatAreRegisteredAreMeasured) {
  const Digest file = stored(std::string(5'000, 'x'));
  const MergeOutputs question{JobId("job"),
                              {{"kept", OutputType::uri_folder, {{0, file}}, {}, true},
                               {"other", OutputType::uri_folder, {{0, file}}},
                               {"empty", OutputType::uri_folder, {}, {}, true}}};
  const auto merged = merge_outputs(*store, question, [] { return Status(); });
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->sizes.size(), 1U);
  const Result<Bytes>& size = merged->sizes.at("kept");
  ASSERT_TRUE(size);
  EXPECT_GT(size->count, 5'000U) << "the list of the folder's names, too";
  EXPECT_LT(size->count, 5'500U);
}

TEST_F(OutputMergerTest, AFullDiskAndTheEndOfTheLauncherAreNotTheOutputs) {
  for (const ErrorCode code : {ErrorCode::resource_exhausted, ErrorCode::unavailable}) {
    const auto outputs = merged(make_error(code, "not now"));
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, code);
  }
}

}  // namespace
}  // namespace lockstep::launcher
