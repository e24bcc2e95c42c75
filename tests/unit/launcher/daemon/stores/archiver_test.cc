// The archive behind a journal as a launcher runs: what is seen is written, and an archive that is
// missing, damaged or behind is made anew while facts go on.

#include "launcher/daemon/stores/archiver.h"

#include <gmock/gmock.h>

#include <fstream>

#include "launcher/archive/reader.h"
#include "launcher/sqlite/database.h"
#include "launcher/sqlite/database_files.h"
#include "launcher/store/journal.h"
#include "tests/unit/launcher/archive/facts.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using archive::facts_of;
using archive::Life;

class ArchiverTest : public testing::Test {
 protected:
  // A launcher's journal and state, without its core.
  void start() {
    state_ = {};
    archiver_.emplace(loop_, journal_path_, archive_path_);
    auto journal = Journal::open(journal_path_);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::make_unique<Journal>(*std::move(journal));
    const Status done =
        journal_->replay_placed([&](const StampedFact& fact, const JournalPosition& at) {
          state_.apply(fact.at, fact.fact);
          archiver_->replayed(fact, at, state_);
        });
    ASSERT_TRUE(done) << done.error().message;
    archiver_->end_replay(journal_->position());
  }
  void stop() {
    archiver_.reset();
    journal_.reset();
  }
  void append(std::vector<StampedFact> facts) {
    const Status done = journal_->append(facts);
    ASSERT_TRUE(done) << done.error().message;
    for (const StampedFact& fact : facts) state_.apply(fact.at, fact.fact);
    archiver_->durable({std::make_shared<const std::vector<StampedFact>>(std::move(facts))},
                       journal_->position(), state_);
  }
  void run(int first, int end) {
    if (first == 0) append({archive::node_joins()});
    for (int i = first; i < end; ++i) append(facts_of(life(i)));
  }
  static Life life(int i) {
    Life life{"job" + std::to_string(i)};
    life.submitted = 100 * i + 10;
    life.placed = life.submitted + 5;
    life.ended = life.placed + 10;
    return life;
  }
  void settle() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    archiver_->turn_end();
    while (!archiver_->is_idle() && std::chrono::steady_clock::now() < end) {
      loop_.turn(milliseconds(20));
      archiver_->turn_end();
    }
    ASSERT_TRUE(archiver_->is_idle());
  }
  std::size_t archived() {
    auto reader = archive::Reader::open(archive_path_);
    EXPECT_TRUE(reader) << reader.error().message;
    archive::JobQuery query;
    query.visible.all = true;
    query.limit = archive::kMaxPageJobs;
    const auto page = reader->list(query);
    EXPECT_TRUE(page) << page.error().message;
    return page->jobs.size();
  }

  const test::TempDir dir_;
  const std::string journal_path_ = dir_ / "journal.db", archive_path_ = dir_ / "archive.db";
  io::EventLoop loop_;
  State state_;
  std::optional<Archiver> archiver_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(ArchiverTest, WritesWhatItSees) {
  start();
  run(0, 3);
  settle();
  EXPECT_EQ(archived(), 3u);
  stop();
  start();
  run(3, 5);
  settle();
  EXPECT_EQ(archived(), 5u);
}

TEST_F(ArchiverTest, AMissingOneIsMadeOfTheJournalWhileJobsEnd) {
  start();
  run(0, 3);
  stop();
  ASSERT_TRUE(remove_database(archive_path_));
  start();
  archiver_->turn_end();  // it begins
  run(3, 6);
  settle();
  EXPECT_EQ(archived(), 6u);
  run(6, 7);
  settle();
  EXPECT_EQ(archived(), 7u);
}

TEST_F(ArchiverTest, ADamagedOneIsMadeAnew) {
  start();
  run(0, 3);
  settle();
  stop();
  ASSERT_TRUE(remove_database(archive_path_));
  std::ofstream(archive_path_) << std::string(8'192, 'x');
  start();
  run(3, 4);  // before it begins
  settle();
  EXPECT_EQ(archived(), 4u);
}

TEST_F(ArchiverTest, OfANewerVersionIsLeftAlone) {
  start();
  settle();
  stop();
  {
    auto db = Database::open(archive_path_);
    ASSERT_TRUE(db && db->execute("PRAGMA user_version = 1000"));
  }
  start();
  run(0, 2);
  archiver_->turn_end();
  EXPECT_EQ(archiver_->wait(), Duration::max());
  bool caught_up = false;
  archiver_->catch_up([&](const Status& done) { caught_up = done.has_value(); });
  EXPECT_TRUE(caught_up) << "it does not hold up compactions";
}

TEST_F(ArchiverTest, ACompactionWaitsUntilItCaughtUpAndLosesNothing) {
  start();
  run(0, 4);
  std::optional<Status> caught_up;
  archiver_->catch_up([&](Status done) { caught_up = std::move(done); });
  EXPECT_FALSE(caught_up);
  while (!caught_up) loop_.turn(milliseconds(20));
  ASSERT_TRUE(*caught_up) << caught_up->error().message;
  const auto compacted = compact_journal(journal_path_);
  ASSERT_TRUE(compacted) << compacted.error().message;
  ASSERT_TRUE(journal_->replace_with(*compacted));
  archiver_->compacted(journal_->position());
  archiver_->release();
  run(4, 5);
  settle();
  EXPECT_EQ(archived(), 5u);
  stop();
  start();
  EXPECT_TRUE(archiver_->is_idle()) << "it goes on from where it was";
}

}  // namespace
}  // namespace lockstep::launcher
