// The journal's file while it is compacted: the facts fold to the same, what is appended meanwhile
// is not lost, and whatever is cut off the file is the old one or the new one, whole.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/domain/why/jobs/orders.h"
#include "launcher/sqlite/database.h"
#include "launcher/state/compact.h"
#include "launcher/store/journal.h"
#include "launcher/store/journal_file.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

class CompactionTest : public testing::Test {
 protected:
  // Canceled jobs: of those below `deleted`, only that they were stays.
  static std::vector<StampedFact> life(int i, bool deleted) {
    const JobId job("job" + std::to_string(i));
    JobSpec spec;
    spec.name = job.value;
    const Instant at{1'000 + i};
    ExitReport report;
    report.cause = Cause::canceled;
    std::vector<StampedFact> facts{{at, JobSubmitted{job, "s" + job.value, spec, 0, 0}},
                                   {at, CancelRequested{job, AskedBy{"ann"}}},
                                   {at, JobFinished{job, JobStatus::canceled, report}}};
    if (deleted) facts.push_back({at, JobDeleted{job, "ann", "s" + job.value, 5}});
    return facts;
  }
  Journal must_open() {
    auto journal = Journal::open(path_);
    EXPECT_TRUE(journal) << journal.error().message;
    return std::move(*journal);
  }
  State fold(Journal& journal) {
    State state;
    const auto done = journal.replay([&](const StampedFact& f) { state.apply(f.at, f.fact); });
    EXPECT_TRUE(done) << done.error().message;
    return state;
  }
  const test::TempDir dir_;
  const std::string path_ = dir_ / "journal.db";
};

TEST_F(CompactionTest, TheShorterFileFoldsToTheSameAndGoesOn) {
  State before;
  {
    Journal journal = must_open();
    fold(journal);
    for (int i = 0; i < 20; ++i) {
      for (const auto& fact : life(i, i < 15)) before.apply(fact.at, fact.fact);
      ASSERT_TRUE(journal.append(life(i, i < 15)));
    }
    const auto compacted = compact_journal(path_);
    ASSERT_TRUE(compacted) << compacted.error().message;
    // Committed while it was at work.
    for (const auto& fact : life(90, true)) before.apply(fact.at, fact.fact);
    ASSERT_TRUE(journal.append(life(90, true)));
    const auto done = journal.replace_with(*compacted);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(journal.kept_by_compaction(), 15u + 5 * 3);
    EXPECT_EQ(journal.last_sequence(), 15u + 5 * 3 + 4);
    for (const auto& fact : life(91, false)) before.apply(fact.at, fact.fact);
    ASSERT_TRUE(journal.append(life(91, false)));
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".compact"));
  Journal journal = must_open();
  EXPECT_TRUE(fold(journal) == before);
  const auto again = compact_journal(path_);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(journal.replace_with(*again));
  Journal third = must_open();
  EXPECT_TRUE(fold(third) == before);
}

TEST_F(CompactionTest, ABrokenRowStopsItAndIsNamed) {
  {
    Journal journal = must_open();
    fold(journal);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(journal.append(life(i, true)));
  }
  {
    auto db = Database::open(path_);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("UPDATE journal SET stamp = stamp + 1 WHERE sequence = 9"));
  }
  const auto compacted = compact_journal(path_);
  ASSERT_FALSE(compacted);
  EXPECT_THAT(compacted.error().message, HasSubstr("row 9"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".compact"));
}

TEST_F(CompactionTest, AChangedBaseIsNamed) {
  {
    Journal journal = must_open();
    fold(journal);
    ASSERT_TRUE(journal.append(life(1, true)));
    const auto compacted = compact_journal(path_);
    ASSERT_TRUE(compacted);
    ASSERT_TRUE(journal.replace_with(*compacted));
  }
  {
    auto db = Database::open(path_);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("UPDATE base SET facts = facts + 1"));
  }
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  const auto done = journal->replay([](const StampedFact&) {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("row 1"));
}

// A reader of another process, a backup: the file stays as it is until it has gone.
TEST_F(CompactionTest, WhileAnotherReadsItStaysAsItIs) {
  Journal journal = must_open();
  fold(journal);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(journal.append(life(i, true)));
  const auto compacted = compact_journal(path_);
  ASSERT_TRUE(compacted);
  {
    auto reader = Database::open(path_);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->execute("BEGIN"));
    ASSERT_TRUE(reader->number("SELECT count(*) FROM journal"));
    ASSERT_TRUE(journal.append(life(5, true)));
    const auto done = journal.replace_with(*compacted);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  }
  ASSERT_TRUE(journal.append(life(6, true)));
  const auto again = compact_journal(path_);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(journal.replace_with(*again));
  EXPECT_EQ(journal.last_sequence(), 7u);
}

// A writer is killed with -9 while it compacts and appends: what it had acknowledged is there.
TEST_F(CompactionTest, AfterAKillAllThatWasAcknowledgedIsThere) {
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
      auto journal = Journal::open(path_);
      int next = 0;
      State state;
      if (!journal || !journal->replay([&](const StampedFact& f) { state.apply(f.at, f.fact); }))
        _exit(1);
      for (const auto& [id, job] : state.deleted().last())
        next = std::max(next, std::atoi(id.value.c_str() + 3) + 1);
      for (;; ++next) {
        if (!journal->append(life(next, true))) _exit(2);
        if (::write(ends[1], &next, sizeof next) < 0) _exit(3);
        if (next % 3 != 0) continue;
        const auto compacted = compact_journal(path_);
        if (!compacted || !journal->replace_with(*compacted)) _exit(4);
      }
    }
    close(ends[1]);
    int acknowledged = -1;
    for (int i = 0; i < 10 + round; ++i)
      ASSERT_EQ(::read(ends[0], &acknowledged, sizeof acknowledged),
                static_cast<ssize_t>(sizeof acknowledged));
    usleep(static_cast<useconds_t>(round * 300));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    while (::read(ends[0], &acknowledged, sizeof acknowledged) > 0) {
    }
    close(ends[0]);
    Journal journal = must_open();
    const State state = fold(journal);
    for (int i = 0; i <= acknowledged; ++i)
      ASSERT_EQ(state.deleted().last().count(JobId("job" + std::to_string(i))), 1u)
          << "round " << round << ", job " << i;
  }
}

// ---- versions -----------------------------------------------------------------------------------

TEST_F(CompactionTest, AnOlderFileIsMigratedAndItsCopyGoesWhenItWasRead) {
  State before;
  {
    Journal journal = must_open();
    fold(journal);
    ASSERT_TRUE(journal.append(life(1, false)));
    for (const auto& fact : life(1, false)) before.apply(fact.at, fact.fact);
  }
  {
    auto db = Database::open(path_);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("DROP TABLE base; PRAGMA user_version = 1"));
  }
  Journal journal = must_open();
  EXPECT_TRUE(std::filesystem::exists(path_ + ".v1"));
  EXPECT_TRUE(fold(journal) == before);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".v1"));
  ASSERT_TRUE(journal.append(life(2, false)));
}

TEST_F(CompactionTest, ANewerFileIsRefusedWithBothVersions) {
  must_open();
  {
    auto db = Database::open(path_);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("PRAGMA user_version = 9"));
  }
  const auto journal = Journal::open(path_);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
  EXPECT_THAT(journal.error().message, HasSubstr("journal version 9"));
  EXPECT_THAT(journal.error().message, HasSubstr("up to 2"));
}

}  // namespace
}  // namespace lockstep::launcher
