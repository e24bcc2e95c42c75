// The writer's process is killed with -9 at random: what it had acknowledged is there, each change
// is there as a whole or not at all, and what is sent again is not doubled.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/launcher/metrics/store_fixture.h"

namespace lockstep::metrics {
namespace {

constexpr int kPointsOfABatch = 7;

class StoreKill : public testing::Test {
 protected:
  static LogBatch batch(int number) {
    std::vector<NamedPoint> points;
    for (int i = 0; i < kPointsOfABatch; ++i)
      points.push_back(at("loss", number * kPointsOfABatch + i, number));
    LogBatch batch = batch_of("job", std::move(points));
    batch.params["p" + std::to_string(number % 50)] = "value";
    batch.mark = SourceMark{"file", static_cast<std::uint64_t>(number), ""};
    return batch;
  }

  // Runs `work` in a process of its own, whose acknowledgements come through the pipe, and kills it
  // after `count` of them and `microseconds` more. The last number that it acknowledged.
  template <typename Work>
  int killed_after(int count, unsigned microseconds, const Work& work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      work([end = ends[1]](int number) {
        if (::write(end, &number, sizeof number) < 0) ::_exit(3);
      });
      for (;;) ::pause();
    }
    ::close(ends[1]);
    int acknowledged = -1, number = 0;
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(::read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number))
          << "the process has ended by itself";
      acknowledged = std::max(acknowledged, number);
    }
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(ends[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number))
      acknowledged = std::max(acknowledged, number);
    ::close(ends[0]);
    return acknowledged;
  }

  std::int64_t count(const char* sql) {
    auto db = launcher::Database::open(path_);
    EXPECT_TRUE(db);
    return db->number(sql).value_or(-1);
  }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "metrics.db";
};

TEST_F(StoreKill, NothingThatWasAcknowledgedIsLostOrDoubled) {
  std::mt19937_64 random(21);
  int next = 0;  // all before it are acknowledged
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    const int acknowledged = killed_after(
        1 + static_cast<int>(random() % 40), random() % 3'000, [this, next](const auto& tell) {
          auto writer = Writer::open(path_, {});
          if (!writer || !(*writer)->add(DescribeRun{info_of("job")}, nullptr)) ::_exit(1);
          for (int number = next;; ++number) {
            const Writer::Done done = [tell, number](const Status& done) {
              done ? tell(number) : ::_exit(2);
            };
            while (!(*writer)->add(batch(number), done)) ::usleep(100);
          }
        });
    next = std::max(next, acknowledged + 1);
    auto reader = Reader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    std::set<std::int64_t> steps;
    std::string after;
    std::size_t rows = 0;
    do {
      const auto page = reader->history(RunId("job"), "loss", after, kMaxHistoryRows);
      ASSERT_TRUE(page) << page.error().message;
      for (const auto& row : page->rows) steps.insert(row.point.step);
      rows += page->rows.size();
      after = page->next;
    } while (!after.empty());
    EXPECT_EQ(rows, steps.size()) << "a point was doubled";
    EXPECT_GE(rows, static_cast<std::size_t>(next) * kPointsOfABatch);
    EXPECT_EQ(rows % kPointsOfABatch, 0u) << "half of a change was kept";
    EXPECT_EQ(*steps.rbegin() + 1, static_cast<std::int64_t>(rows)) << "a change is missing";
    EXPECT_EQ(count("SELECT points FROM job"), static_cast<std::int64_t>(rows));
    EXPECT_EQ(count("SELECT points FROM owner"), static_cast<std::int64_t>(rows));
    EXPECT_EQ(count("SELECT offset FROM source"),
              static_cast<std::int64_t>(rows) / kPointsOfABatch - 1)
        << "the mark is of the last change";
    const auto data = reader->data(RunId("job"));
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->metrics.at(0).last.step, *steps.rbegin());
  }
}

TEST_F(StoreKill, AHalfRemovedJobGoesOnBeingRemoved) {
  std::mt19937_64 random(22);
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    killed_after(1, random() % 30'000, [this](const auto& tell) {
      auto writer = Writer::open(path_, {});
      if (!writer) ::_exit(1);
      for (const char* job : {"job", "stays"})
        (void)(*writer)->add(DescribeRun{info_of(job)}, nullptr).has_value();
      (void)(*writer)->add(batch_of("stays", {at("x", 1, 1)}), nullptr).has_value();
      for (int rank = 0; rank < 4; ++rank) {
        std::vector<NamedPoint> points;
        for (int step = 0; step < 10'000; ++step) points.push_back(at("x", step, step));
        (void)(*writer)->add(batch_of("job", std::move(points), 1, rank), nullptr).has_value();
      }
      const Writer::Done removed = [tell](const Status& done) { done ? tell(1) : ::_exit(2); };
      (void)(*writer)->add(RemoveJob{JobId("job")}, removed).has_value();
      (*writer)->settle();
      ::pause();
    });
    auto reader = Reader::open(path_);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->run(RunId("job")).error().code, ErrorCode::not_found);
    {
      auto writer = Writer::open(path_, {});
      ASSERT_TRUE(writer) << writer.error().message;
      EXPECT_EQ((*writer)->finding(), "");
      (*writer)->settle();
    }
    EXPECT_EQ(count("SELECT count(*) FROM point"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM series"), 1);
    EXPECT_EQ(count("SELECT points FROM owner"), 1);
  }
}

}  // namespace
}  // namespace lockstep::metrics
