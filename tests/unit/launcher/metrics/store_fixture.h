#pragma once
// A store of metrics in a folder of the test, with short functions for changes.

#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/metrics/reader.h"
#include "launcher/metrics/writer.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::metrics {

inline RunInfo info_of(const std::string& run, const std::string& experiment = "Default") {
  RunInfo info;
  info.run.value = run;
  info.experiment = experiment;
  info.owner = "ann";
  info.project = "p";
  return info;
}
inline NamedPoint at(const std::string& name, std::int64_t step, double value) {
  return {name, {step, Instant{1'000 + step}, value}};
}
inline LogBatch batch_of(const std::string& run, std::vector<NamedPoint> points,
                         std::uint32_t attempt = 1, int rank = 0) {
  LogBatch batch;
  batch.run.value = run;
  batch.attempt = {job_of(batch.run), attempt, 0};
  batch.rank = rank;
  batch.points = std::move(points);
  return batch;
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() { open(); }

  void open(const MetricsLimits& limits = {}) {
    writer_.reset();
    auto writer = Writer::open(path_, limits);
    ASSERT_TRUE(writer) << writer.error().message;
    writer_ = *std::move(writer);
    auto reader = Reader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    reader_ = *std::move(reader);
  }
  // What became of the change.
  Status apply(Change change) {
    std::promise<Status> promise;
    const Status taken =
        writer_->add(std::move(change), [&promise](Status done) { promise.set_value(done); });
    return taken ? promise.get_future().get() : taken;
  }
  void must(Change change) {
    const Status done = apply(std::move(change));
    ASSERT_TRUE(done) << done.error().message;
  }
  ErrorCode error_of(Change change) {
    const Status done = apply(std::move(change));
    EXPECT_FALSE(done) << "it was taken";
    return done ? ErrorCode::internal : done.error().code;
  }
  std::vector<Point> history(const std::string& run, const std::string& name,
                             std::size_t page = kMaxHistoryRows) {
    std::vector<Point> points;
    std::string after;
    do {
      const auto rows = reader_->history(RunId(run), name, after, page);
      EXPECT_TRUE(rows) << rows.error().message;
      if (!rows) break;
      for (const auto& row : rows->rows) points.push_back(row.point);
      after = rows->next;
    } while (!after.empty());
    return points;
  }
  std::int64_t count(const char* sql) {
    auto db = launcher::Database::open(path_);
    EXPECT_TRUE(db);
    return db->number(sql).value_or(-1);
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string path_ = dir_ / "metrics.db";
  std::unique_ptr<Writer> writer_;
  std::optional<Reader> reader_;
};

}  // namespace lockstep::metrics
