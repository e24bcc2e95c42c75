// The store on a disk that says no, at every call that would change it: what was acknowledged is
// there afterwards, what was refused is not, and it goes on once the disk is well again.

#include <filesystem>

#include "tests/unit/launcher/metrics/store_fixture.h"

namespace lockstep::metrics {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr int kBatches = 4;

class StoreFaults : public testing::Test {
 protected:
  static LogBatch batch(int number) {
    LogBatch batch = batch_of("job", {at("x", number, number)});
    batch.tags["t" + std::to_string(number)] = std::string(3'000, 'x');  // so that pages are needed
    return batch;
  }
  // Which batches were acknowledged, and which refused; an error: it could not be opened.
  Status live(const std::string& path) {
    TRY_ASSIGN(const auto writer, Writer::open(path, {}));
    const auto apply = [&writer](Change change) {
      std::promise<Status> promise;
      const Writer::Done done = [&promise](const Status& result) { promise.set_value(result); };
      const Status taken = writer->add(std::move(change), done);
      return taken ? promise.get_future().get() : taken;
    };
    for (int i = 0; i < 3 && !apply(DescribeRun{info_of("job")}); ++i) {
    }
    for (int number = 0; number < kBatches; ++number) {
      const Status done = apply(batch(number));
      (done ? acknowledged_ : refused_).push_back(number);
      if (!done) errors_.push_back(done.error());
    }
    return {};
  }

  const test::TempDir dir_{test::quick_directory()};
  std::vector<int> acknowledged_, refused_;
  std::vector<Error> errors_;
};

TEST_F(StoreFaults, WhatWasAcknowledgedIsThereWhereverTheDiskSaysNo) {
  const int runs = test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    acknowledged_.clear();
    refused_.clear();
    errors_.clear();
    const std::string home = dir_ / "home", path = home + "/metrics.db";
    std::filesystem::create_directory(home);
    Status lived;
    {
      const io::disk::InFront front(faults);
      lived = live(path);
    }
    if (!lived) {
      EXPECT_THAT(lived.error().message, HasSubstr(home));
    }
    for (const Error& error : errors_) {
      EXPECT_THAT(error.code,
                  AnyOf(ErrorCode::io, ErrorCode::resource_exhausted, ErrorCode::not_found))
          << error.message;
    }
    // The disk is well again.
    {
      auto writer = Writer::open(path, {});
      ASSERT_TRUE(writer) << writer.error().message;
      EXPECT_EQ((*writer)->finding(), "") << "it is not damaged";
      ASSERT_TRUE((*writer)->add(DescribeRun{info_of("job")}, nullptr));
      ASSERT_TRUE((*writer)->add(batch(kBatches), nullptr));
    }
    auto reader = Reader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto data = reader->data(RunId("job"));
    ASSERT_TRUE(data) << data.error().message;
    const auto has = [&data](int number) {
      return data->tags.count("t" + std::to_string(number)) != 0;
    };
    for (const int number : acknowledged_) EXPECT_TRUE(has(number)) << number;
    for (const int number : refused_) EXPECT_FALSE(has(number)) << number;
    EXPECT_TRUE(has(kBatches));
    std::filesystem::remove_all(home);
  });
  EXPECT_GT(runs, 50);
}

}  // namespace
}  // namespace lockstep::metrics
