// A journal that lost its WAL, its database or both: SQLite takes what is left for a whole one, or
// a new one. It is refused, and nothing is removed.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/domain/why/jobs/orders.h"
#include "launcher/store/journal.h"
#include "launcher/store/journal_check.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kEach = 4;  // facts of a life

class LostJournal : public testing::Test {
 protected:
  LostJournal() { fs::create_directory(dir_ / "lost"); }

  // Of which a compaction keeps less.
  static std::vector<StampedFact> life(int i) {
    const JobId job("job" + std::to_string(i));
    JobSpec spec;
    spec.name = job.value;
    ExitReport report;
    report.cause = Cause::canceled;
    const Instant at{1'000 + i};
    return {{at, JobSubmitted{job, "s" + job.value, spec, 0, 0}},
            {at, CancelRequested{job, AskedBy{"ann"}}},
            {at, JobFinished{job, JobStatus::canceled, report}},
            {at, JobDeleted{job, "ann", "s" + job.value, 5}}};
  }
  // What a kill leaves after the lives of so many jobs, in a process, or in two.
  void leave(int before, int after, bool compacted = false) {
    for (const int count : {before, after}) {
      if (count == 0) continue;
      auto journal = Journal::open(path_);
      ASSERT_TRUE(journal && journal->replay([](const StampedFact&) {}));
      for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(journal->append(life(written_++)));
        if (!compacted || i > 0) continue;
        const auto shorter = compact_journal(path_);
        ASSERT_TRUE(shorter && journal->replace_with(*shorter));
      }
      for (const char* end : {"", "-wal", ".least"})
        fs::copy_file(path_ + end, lost_ + end, fs::copy_options::overwrite_existing);
    }
  }
  void lose(const std::string& end) { ASSERT_TRUE(fs::remove(lost_ + end)); }
  // How many facts are read; -1: refused, in error_.
  int read(const std::string& sign = "") {
    auto journal = Journal::open(lost_, sign);
    int count = 0;
    const Status done =
        journal ? journal->replay([&](const StampedFact&) { ++count; }) : Status(journal.error());
    if (done) return count;
    error_ = done.error();
    EXPECT_EQ(error_.code, ErrorCode::corrupt) << error_.message;
    return -1;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "journal.db", lost_ = dir_ / "lost/journal.db";
  int written_ = 0;
  Error error_;
};

TEST_F(LostJournal, ALostWalIsNamed) {
  for (const int before : {0, 3}) {
    for (const bool compacted : {false, true}) {
      SCOPED_TRACE(std::to_string(before) + (compacted ? ", compacted" : ""));
      for (const char* end : {"", "-wal", "-shm", ".least"}) {
        fs::remove(path_ + end);
        fs::remove(lost_ + end);
      }
      leave(before, 4, compacted);
      lose("-wal");
      ASSERT_EQ(read(), -1);
      EXPECT_THAT(error_.message, AllOf(HasSubstr(lost_ + "-wal"), HasSubstr("restore a backup")));
      EXPECT_FALSE(expect_whole_journal(lost_, ""));
      const auto check = check_journal(lost_);
      ASSERT_TRUE(check);
      EXPECT_TRUE(check->lost);
      ASSERT_EQ(check->problems.size(), 1u);
      const auto hint = "--truncate-journal-at " + std::to_string(check->rows + 1);
      EXPECT_THAT(check->problems[0], HasSubstr(hint));
      // Said and done on purpose.
      ASSERT_TRUE(truncate_journal(lost_, check->rows + 1));
      EXPECT_EQ(read(), static_cast<int>(check->rows));
    }
  }
}

TEST_F(LostJournal, AWalThatWasEmptiedIsNamed) {
  leave(2, 4);
  fs::resize_file(lost_ + "-wal", 0);
  EXPECT_EQ(read(), -1);
}

TEST_F(LostJournal, AWholeOneWithoutItsWalIsWhole) {
  leave(2, 4);
  EXPECT_EQ(read(), 6 * kEach);  // closed: all is in the database
  EXPECT_FALSE(fs::exists(lost_ + "-wal"));
  EXPECT_EQ(read(), 6 * kEach);
  EXPECT_TRUE(expect_whole_journal(lost_, "sign"));
}

// SQLite would remove the WAL with all that is left.
TEST_F(LostJournal, AWalWithoutItsDatabaseIsRefusedAndStays) {
  leave(0, 4);
  const auto size = fs::file_size(lost_ + "-wal");
  lose("");
  for (const bool empty : {false, true}) {
    if (empty) std::ofstream(lost_).close();
    ASSERT_EQ(read(), -1);
    EXPECT_THAT(error_.message, HasSubstr(lost_ + ": is missing"));
    EXPECT_FALSE(expect_whole_journal(lost_, ""));
    EXPECT_EQ(fs::file_size(lost_ + "-wal"), size);
  }
}

TEST_F(LostJournal, AJournalThatIsGoneIsNotBegunAnew) {
  leave(0, 4);
  lose("");
  lose("-wal");
  ASSERT_EQ(read(), -1);
  EXPECT_THAT(error_.message, HasSubstr(lost_ + ".least"));
  EXPECT_FALSE(fs::exists(lost_)) << "none is made";
  lose(".least");
  ASSERT_EQ(read("/home/version"), -1);
  EXPECT_THAT(error_.message, AllOf(HasSubstr("/home/version shows"), HasSubstr("move")));
  EXPECT_EQ(read(), 0) << "a new one";
}

// As earlier versions left them.
TEST_F(LostJournal, OneWithoutItsCountIsTakenAsItIs) {
  leave(2, 4);
  lose(".least");
  EXPECT_EQ(read("/home/version"), 6 * kEach);
}

TEST_F(LostJournal, ACountThatCannotBeReadSaysThatThereWereFacts) {
  leave(2, 4);
  for (const char* text : {"", "00000000000000000009 0123456789abcdef\n", "noise"}) {
    std::ofstream(lost_ + ".least", std::ios::trunc) << text;
    EXPECT_EQ(read(), 6 * kEach);
  }
  for (const char* end : {"", "-wal"}) fs::remove(lost_ + end);
  EXPECT_EQ(read(), -1);
}

// Three tables and no row: the first commit was all in the WAL.
TEST_F(LostJournal, ANewJournalHasItsTablesWithoutTheWal) {
  leave(0, 1);
  lose("-wal");
  const auto check = check_journal(lost_);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->rows, 0u);
  EXPECT_TRUE(check->lost);
  EXPECT_THAT(check->problems[0], HasSubstr("--truncate-journal-at 1"));
}

}  // namespace
}  // namespace lockstep::launcher
