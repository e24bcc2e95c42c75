// The store over a real file: what is logged is there, once however often it is sent, within the
// limits, and gone with its job.

#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "common/domain/runs/batch_limits.h"
#include "launcher/sqlite/database_files.h"
#include "tests/unit/launcher/metrics/store_fixture.h"

namespace lockstep::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const double kNan = std::nan("");
const double kInf = std::numeric_limits<double>::infinity();

TEST_F(StoreTest, WhatIsLoggedIsThereAfterARestart) {
  must(DescribeRun{info_of("job")});
  LogBatch batch = batch_of("job", {at("loss", 1, 0.5), at("loss", 2, kNan), at("loss", 3, -kInf)});
  batch.params = {{"lr", "0.1"}};
  batch.tags = {{"team", "vision"}, {"empty", ""}};
  batch.mark = SourceMark{"rank_0.stdout", 7, "3"};
  must(batch);
  open();
  EXPECT_THAT(history("job", "loss"),
              ElementsAre(Point{1, Instant{1'001}, 0.5}, Point{2, Instant{1'002}, kNan},
                          Point{3, Instant{1'003}, -kInf}));
  const auto data = reader_->data(RunId("job"));
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_THAT(data->metrics, SizeIs(1));
  EXPECT_EQ(data->metrics[0].last.value, -kInf);
  EXPECT_EQ(data->metrics[0].least, -kInf);
  EXPECT_EQ(data->metrics[0].greatest, 0.5);
  EXPECT_EQ(data->metrics[0].greatest_step, 1);
  EXPECT_EQ(data->params, batch.params);
  EXPECT_EQ(data->tags, batch.tags);
  EXPECT_EQ(reader_->mark(RunId("job"), "rank_0.stdout").value(), batch.mark);
  EXPECT_EQ(reader_->mark(RunId("job"), "other").value(), std::nullopt);
}

TEST_F(StoreTest, WhatIsSentAgainIsNotDoubled) {
  must(DescribeRun{info_of("job")});
  const LogBatch batch = batch_of("job", {at("x", 1, kNan), at("x", 1, kNan), at("x", 1, 2)});
  for (int i = 0; i < 3; ++i) must(batch);
  EXPECT_THAT(history("job", "x"), SizeIs(2));
  EXPECT_EQ(count("SELECT points FROM job"), 2);
  EXPECT_EQ(count("SELECT points FROM owner"), 2);
  EXPECT_EQ(count("SELECT points FROM series"), 2);
}

TEST_F(StoreTest, RanksAndAttemptsAreSeriesOfTheirOwn) {
  must(DescribeRun{info_of("job")});
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt)
    for (int rank = 0; rank < 3; ++rank)
      must(batch_of("job", {at("loss", 10 - attempt, rank)}, attempt, rank));
  CurveQuery query{RunId("job"), "loss"};
  EXPECT_THAT(*reader_->curves(query), SizeIs(6));
  query.attempt = 2;
  query.rank = 1;
  const auto one = reader_->curves(query);
  ASSERT_THAT(*one, SizeIs(1));
  EXPECT_EQ((*one)[0].series, (SeriesId{2, 0, 1}));
  EXPECT_EQ((*one)[0].buckets.at(0).last, 1);
  EXPECT_EQ(reader_->data(RunId("job"))->metrics.at(0).attempt, 2u)
      << "the newest attempt counts, though its steps are less";
}

TEST_F(StoreTest, ARunHasToBeKnown) {
  EXPECT_EQ(error_of(batch_of("job", {at("x", 1, 1)})), ErrorCode::not_found);
  EXPECT_EQ(error_of(DescribeRun{info_of("job.inner")}), ErrorCode::not_found);
  must(DescribeRun{info_of("job")});
  EXPECT_EQ(error_of(batch_of("job.inner", {at("x", 1, 1)})), ErrorCode::not_found);
  must(DescribeRun{info_of("job.inner")});
  must(batch_of("job.inner", {at("x", 1, 1)}));
  EXPECT_THAT(history("job.inner", "x"), SizeIs(1));
  EXPECT_THAT(history("job", "x"), IsEmpty());
  EXPECT_EQ(reader_->data(RunId("other")).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader_->runs_of(JobId("other")).error().code, ErrorCode::not_found);
}

TEST_F(StoreTest, AParamDoesNotChangeAndATagDoes) {
  must(DescribeRun{info_of("job")});
  LogBatch batch = batch_of("job", {at("x", 1, 1)});
  batch.params = {{"lr", "0.1"}};
  batch.tags = {{"a", "1"}, {"b", "2"}};
  must(batch);
  must(batch);
  LogBatch other = batch_of("job", {at("x", 2, 1)});
  other.params = {{"lr", "0.2"}, {"more", "1"}};
  const Status done = apply(other);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::conflict);
  EXPECT_THAT(done.error().message, HasSubstr("param 'lr' is '0.1' already"));
  EXPECT_THAT(history("job", "x"), SizeIs(1)) << "nothing of the change is there";
  EXPECT_THAT(reader_->data(RunId("job"))->params, SizeIs(1));
  LogBatch tags = batch_of("job", {});
  tags.removed_tags = {"a", "b", "unknown"};
  tags.tags = {{"b", "3"}};
  must(tags);
  EXPECT_EQ(reader_->data(RunId("job"))->tags, (std::map<std::string, std::string>{{"b", "3"}}));
  EXPECT_EQ(count("SELECT text_bytes FROM job"), 5 + 2);
}

TEST_F(StoreTest, WhatCannotBeIsRefusedAtOnce) {
  must(DescribeRun{info_of("job")});
  std::vector<Change> bad;
  bad.push_back(batch_of("job", {at("", 1, 1)}));
  bad.push_back(batch_of("job", {at(std::string(kMaxMetricNameBytes + 1, 'x'), 1, 1)}));
  bad.push_back(batch_of("job", std::vector<NamedPoint>(kMaxBatchPoints + 1, at("x", 1, 1))));
  bad.push_back(batch_of("", {}));
  bad.push_back(batch_of("job.", {}));
  bad.push_back(batch_of("job.a.b", {}));
  bad.push_back(batch_of("../job", {}));
  LogBatch batch = batch_of("job", {});
  batch.attempt.job = JobId("other");
  bad.push_back(batch);
  batch = batch_of("job", {});
  batch.params["x"] = std::string(kMaxParamBytes + 1, 'x');
  bad.push_back(batch);
  batch = batch_of("job", {});
  batch.tags[""] = "x";
  bad.push_back(batch);
  bad.push_back(RemoveRun{RunId("job")});
  for (const Change& change : bad) EXPECT_EQ(error_of(change), ErrorCode::invalid_argument);
}

TEST_F(StoreTest, ALongSeriesIsThinnedAndKeepsItsExtremes) {
  MetricsLimits limits;
  limits.points_per_series = kLeastPointsPerSeries;
  open(limits);
  must(DescribeRun{info_of("job")});
  for (int begin = 0; begin < 5'000; begin += 500) {
    std::vector<NamedPoint> points;
    for (int step = begin; step < begin + 500; ++step)
      points.push_back(at("x", step, step == 1'234 ? 1e9 : step == 77 ? -1e9 : step % 10));
    must(batch_of("job", points));
  }
  const auto left = history("job", "x");
  EXPECT_LE(left.size(), kLeastPointsPerSeries);
  EXPECT_GT(left.size(), kLeastPointsPerSeries / 3);
  EXPECT_EQ(left.front().step, 0);
  EXPECT_EQ(left.back().step, 4'999);
  const auto curves = reader_->curves({RunId("job"), "x", {}, {}, Axis::step, {}, {}, 1});
  ASSERT_THAT(*curves, SizeIs(1));
  EXPECT_EQ((*curves)[0].points, left.size());
  EXPECT_EQ((*curves)[0].points + (*curves)[0].thinned, 5'000u);
  EXPECT_EQ((*curves)[0].buckets.at(0).max, 1e9);
  EXPECT_EQ((*curves)[0].buckets.at(0).min, -1e9);
  EXPECT_EQ(count("SELECT points FROM job"), static_cast<std::int64_t>(left.size()));
}

TEST_F(StoreTest, LimitsAreSaidAndNothingOfTheChangeIsThere) {
  MetricsLimits limits;
  limits.series_per_job = 2;
  limits.points_per_job = 5;
  limits.points_per_owner = 7;
  limits.text_bytes_per_job = 10;
  limits.runs_per_job = 2;
  open(limits);
  must(DescribeRun{info_of("job")});
  must(DescribeRun{info_of("job.a")});
  const auto refused = [this](Change change, const char* why) {
    const Status done = apply(std::move(change));
    ASSERT_FALSE(done) << why;
    EXPECT_EQ(done.error().code, ErrorCode::resource_exhausted);
    EXPECT_THAT(done.error().message, HasSubstr(why));
  };
  refused(DescribeRun{info_of("job.b")}, "'job' would have more than 2 runs");
  refused(batch_of("job", {at("a", 1, 1), at("b", 1, 1), at("c", 1, 1)}), "more than 2 series");
  must(batch_of("job", {at("a", 1, 1), at("a", 2, 1), at("a", 3, 1)}));
  must(batch_of("job.a", {at("a", 1, 1), at("a", 2, 1)}));
  refused(batch_of("job", {at("a", 4, 1)}), "more than 5 points");
  must(batch_of("job", {at("a", 3, 1)}));  // sent again
  LogBatch texts = batch_of("job", {});
  texts.tags = {{"key", "12345678"}};
  refused(texts, "more than 10 bytes of params and tags");
  must(DescribeRun{info_of("other")});
  refused(batch_of("other", {at("a", 1, 1), at("a", 2, 1), at("a", 3, 1)}), "of user 'ann'");
  must(batch_of("other", {at("a", 1, 1), at("a", 2, 1)}));
  must(RemoveRun{RunId("job.a")});
  must(batch_of("job", {at("a", 4, 1)}));
  EXPECT_THAT(history("job", "a"), SizeIs(4));
}

TEST_F(StoreTest, WithItsJobAllIsGone) {
  for (const char* job : {"job", "other"}) {
    must(DescribeRun{info_of(job)});
    must(DescribeRun{info_of(std::string(job) + ".inner")});
    for (const char* run : {"", ".inner"}) {
      LogBatch batch = batch_of(std::string(job) + run, {at("a", 1, 1), at("b", 1, 1)});
      batch.params = {{"x", "y"}};
      batch.mark = SourceMark{"s", 1, ""};
      must(batch);
    }
  }
  must(RemoveJob{JobId("job")});
  must(RemoveJob{JobId("job")});  // again
  EXPECT_EQ(error_of(batch_of("job", {at("a", 2, 1)})), ErrorCode::not_found);
  must(DescribeRun{info_of("job")});  // a later job of the same name
  EXPECT_THAT(history("job", "a"), IsEmpty());
  must(RemoveJob{JobId("job")});
  writer_->settle();
  EXPECT_EQ(count("SELECT count(*) FROM point"), 4);
  EXPECT_EQ(count("SELECT count(*) FROM series"), 4);
  EXPECT_EQ(count("SELECT count(*) FROM latest"), 4);
  EXPECT_EQ(count("SELECT count(*) FROM text"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM source"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM run"), 2);
  EXPECT_EQ(count("SELECT points FROM owner"), 4);
}

TEST_F(StoreTest, ARemovedJobIsPurgedAfterARestartToo) {
  must(DescribeRun{info_of("job")});
  for (int begin = 0; begin < 30'000; begin += 10'000) {
    std::vector<NamedPoint> points;
    for (int step = begin; step < begin + 10'000; ++step) points.push_back(at("x", step, step));
    must(batch_of("job", points));
  }
  must(RemoveJob{JobId("job")});
  open();
  writer_->settle();
  EXPECT_EQ(count("SELECT count(*) FROM point"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM series"), 0);
}

TEST_F(StoreTest, AHistoryComesInPages) {
  must(DescribeRun{info_of("job")});
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<NamedPoint> points;
    for (int step = 0; step < 7; ++step) {
      points.push_back(at("x", step, kNan));
      points.push_back(at("x", step, rank));
    }
    must(batch_of("job", points, 1, rank));
  }
  const auto whole = history("job", "x");
  EXPECT_THAT(whole, SizeIs(42));
  for (const std::size_t page : {1u, 2u, 5u, 13u, 14u, 15u, 42u})
    EXPECT_EQ(history("job", "x", page), whole) << page;
  for (const char* after : {"x", "1:2", "1:2:3:4:5:6", "1:2:3:0:", "01:2:3:0:0", " 1:2:3:0:0"})
    EXPECT_EQ(reader_->history(RunId("job"), "x", after, 1).error().code,
              ErrorCode::invalid_argument)
        << after;
}

TEST_F(StoreTest, ADamagedStoreIsSetAsideAndANewOneBegun) {
  must(DescribeRun{info_of("job")});
  writer_.reset();
  reader_.reset();
  dir_.file("metrics.db", std::string(8'192, 'x'));
  open();
  EXPECT_THAT(writer_->finding(), HasSubstr(path_ + ".damaged"));
  EXPECT_EQ(dir_.read("metrics.db.damaged"), std::string(8'192, 'x'));
  must(DescribeRun{info_of("job")});
  must(batch_of("job", {at("x", 1, 1)}));
}

TEST_F(StoreTest, ManyThreadsLogAtOnce) {
  must(DescribeRun{info_of("job")});
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 8; ++rank)
    threads.emplace_back([this, rank] {
      for (int step = 0; step < 100; ++step)
        EXPECT_TRUE(apply(batch_of("job", {at("x", step, rank)}, 1, rank)));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(history("job", "x"), SizeIs(800));
}

TEST_F(StoreTest, WhatWaitsIsBounded) {
  must(DescribeRun{info_of("job")});
  // The writer waits in the first change's callback while others pile up.
  std::promise<void> may_go_on;
  auto gate = may_go_on.get_future().share();
  ASSERT_TRUE(writer_->add(batch_of("job", {}), [gate](const Status&) { gate.wait(); }));
  std::size_t taken = 0;
  Status last;
  while ((last = writer_->add(batch_of("job", {at("x", 1, 1)}), nullptr))) ++taken;
  EXPECT_EQ(last.error().code, ErrorCode::resource_exhausted);
  EXPECT_LE(taken, kMaxWaitingChanges + 1);
  EXPECT_LE(writer_->load().bytes, kMaxWaitingBytes);
  may_go_on.set_value();
  writer_->settle();
  EXPECT_EQ(writer_->load().changes, 0u);
  EXPECT_THAT(history("job", "x"), SizeIs(1));
}

TEST_F(StoreTest, AWholeStoreHasNoProblems) {
  must(DescribeRun{info_of("job")});
  must(DescribeRun{info_of("gone")});
  must(batch_of("job", {at("loss", 1, 0.5), at("loss", 2, kNan)}));
  must(batch_of("gone", {at("loss", 1, 0.5)}));
  must(RemoveJob{JobId("gone")});
  const auto problems = reader_->problems();
  ASSERT_TRUE(problems) << problems.error().message;
  EXPECT_THAT(*problems, IsEmpty());
}

TEST_F(StoreTest, ProblemsSayWhichTablesDisagree) {
  const std::map<std::string, std::string> harms = {
      {"UPDATE series SET points = points + 1", "'loss' has another number of points"},
      {"DELETE FROM latest", "'loss' has points and no latest value"},
      {"INSERT INTO point VALUES (99, 1, 1, 0, 0.5)", "'series 99' has points and is not there"},
      {"UPDATE run SET job = 77", "'job' is a run of no job"},
      {"UPDATE series SET run = 77", "'loss' belongs to no run"},
      {"UPDATE job SET points = 0", "'job' is a job with another number of points"},
      {"DELETE FROM series", "'loss' has a latest value and no series"},
  };
  must(DescribeRun{info_of("job")});
  must(batch_of("job", {at("loss", 1, 0.5)}));
  writer_->settle();
  for (const auto& [harm, want] : harms) {
    SCOPED_TRACE(harm);
    const std::string copy = dir_ / "copy.db";
    ASSERT_TRUE(launcher::remove_database(copy));
    {
      auto db = launcher::Database::open(path_);
      ASSERT_TRUE(db);
      ASSERT_TRUE(db->execute(("VACUUM INTO '" + copy + "'").c_str()));
      auto harmed = launcher::Database::open(copy);
      ASSERT_TRUE(harmed);
      ASSERT_TRUE(harmed->execute(harm.c_str()));
    }
    auto reader = Reader::open(copy);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto problems = reader->problems();
    ASSERT_TRUE(problems) << problems.error().message;
    EXPECT_THAT(*problems, testing::Contains(HasSubstr(want)));
  }
}

}  // namespace
}  // namespace lockstep::metrics
