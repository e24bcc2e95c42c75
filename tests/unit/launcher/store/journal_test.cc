// The journal over a real file: what was appended comes back in order, whatever was cut off is a
// prefix, and whatever was changed is named.

#include "launcher/store/journal.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/domain/why/jobs/orders.h"
#include "launcher/sqlite/database.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

class JournalTest : public testing::Test {
 protected:
  static StampedFact fact(int i) {
    return {{1'000 + i}, CancelRequested{JobId("job" + std::to_string(i)), AskedBy{"somebody"}}};
  }
  static std::vector<StampedFact> read(Journal& journal) {
    std::vector<StampedFact> facts;
    const auto done = journal.replay([&](const StampedFact& f) { facts.push_back(f); });
    EXPECT_TRUE(done) << done.error().message;
    return facts;
  }
  // Opens, replays and appends n facts, in transactions of two.
  void write(int first, int last) {
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal) << journal.error().message;
    read(*journal);
    for (int i = first; i < last; i += 2) {
      std::vector<StampedFact> batch{fact(i)};
      if (i + 1 < last) batch.push_back(fact(i + 1));
      const auto done = journal->append(batch);
      ASSERT_TRUE(done) << done.error().message;
    }
  }
  void change(const char* sql) {
    auto db = Database::open(path_);
    ASSERT_TRUE(db);
    const auto done = db->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  Error replay_error() {
    auto journal = Journal::open(path_);
    if (!journal) return journal.error();
    int seen = 0;
    const auto done = journal->replay([&](const StampedFact&) { ++seen; });
    seen_before_error_ = seen;
    return done ? make_error(ErrorCode::internal, "no error at all") : done.error();
  }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "journal.db";
  int seen_before_error_ = 0;
};

TEST_F(JournalTest, EveryKindOfFactComesBackInOrder) {
  std::vector<StampedFact> sent;
  test::for_each_alternative<Fact>([&](const Fact& f) {
    sent.push_back({{static_cast<std::int64_t>(sent.size())}, f});
  });
  {
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_TRUE(read(*journal).empty());
    ASSERT_TRUE(journal->append(sent));
    EXPECT_EQ(journal->last_sequence(), sent.size());
  }
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  EXPECT_TRUE(read(*journal) == sent);
}

TEST_F(JournalTest, GoesOnWhereItStopped) {
  write(0, 5);
  write(5, 9);
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  const auto facts = read(*journal);
  ASSERT_EQ(facts.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(facts[i] == fact(i));
}

// A writer is killed with -9 in the middle of its appends: what it had acknowledged is there, and
// what is there is a prefix in whole transactions.
TEST_F(JournalTest, AfterAKillTheFileHoldsAPrefixWithAllThatWasAcknowledged) {
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
      auto journal = Journal::open(path_);
      int next = 0;
      if (!journal || !journal->replay([&](const StampedFact&) { ++next; })) _exit(1);
      for (;; next += 2) {
        if (!journal->append({fact(next), fact(next + 1)})) _exit(2);
        const int acknowledged = next + 2;
        if (::write(pipe_ends[1], &acknowledged, sizeof acknowledged) < 0) _exit(3);
      }
    }
    close(pipe_ends[1]);
    int acknowledged = 0;
    for (int i = 0; i < 20 + round; ++i)
      ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof acknowledged),
                static_cast<ssize_t>(sizeof acknowledged));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    while (::read(pipe_ends[0], &acknowledged, sizeof acknowledged) > 0) {
    }
    close(pipe_ends[0]);
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal) << journal.error().message;
    const auto facts = read(*journal);
    EXPECT_GE(static_cast<int>(facts.size()), acknowledged);
    EXPECT_EQ(facts.size() % 2, 0u) << "half of a transaction was kept";
    for (std::size_t i = 0; i < facts.size(); ++i)
      ASSERT_TRUE(facts[i] == fact(static_cast<int>(i)));
  }
}

// The WAL cut short at any byte: a prefix again.
TEST_F(JournalTest, ATornTailIsAPrefix) {
  const auto copy = dir_ / "copy.db";
  {
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal);
    read(*journal);
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(journal->append({fact(i)}));
    // Copied while it is open: the facts are still in the WAL.
    std::filesystem::copy_file(path_, copy);
    std::filesystem::copy_file(path_ + "-wal", copy + "-wal.full");
  }
  const auto whole = std::filesystem::file_size(copy + "-wal.full");
  std::size_t fewest = 99, most = 0;
  for (auto length = whole % 997; length <= whole; length += 997) {
    std::filesystem::copy_file(copy, dir_ / "torn.db");
    std::filesystem::copy_file(copy + "-wal.full", dir_ / "torn.db-wal");
    std::filesystem::resize_file(dir_ / "torn.db-wal", length);
    {
      auto journal = Journal::open(dir_ / "torn.db");
      ASSERT_TRUE(journal) << journal.error().message;
      const auto facts = read(*journal);
      for (std::size_t i = 0; i < facts.size(); ++i)
        EXPECT_TRUE(facts[i] == fact(static_cast<int>(i)));
      fewest = std::min(fewest, facts.size());
      most = std::max(most, facts.size());
    }
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(dir_ / "torn.db" + end);
  }
  EXPECT_EQ(fewest, 0u);
  EXPECT_EQ(most, 8u);
}

TEST_F(JournalTest, AFlippedBitIsNamed) {
  write(0, 6);
  change(
      "UPDATE journal SET payload = CAST(replace(payload, 'job3', 'job2') AS BLOB) "
      "WHERE sequence = 4");
  const auto error = replay_error();
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_THAT(error.message, HasSubstr("row 4"));
  EXPECT_THAT(error.message, HasSubstr("checksum"));
  EXPECT_EQ(seen_before_error_, 3);
}

TEST_F(JournalTest, AChangedStampIsNamed) {
  write(0, 3);
  change("UPDATE journal SET stamp = stamp + 1 WHERE sequence = 2");
  EXPECT_THAT(replay_error().message, HasSubstr("row 2"));
}

TEST_F(JournalTest, AMissingRowIsNamed) {
  write(0, 6);
  change("DELETE FROM journal WHERE sequence = 3");
  const auto error = replay_error();
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_THAT(error.message, HasSubstr("row 4 (byte "));
  EXPECT_THAT(error.message, HasSubstr(": follows row 2"));
}

TEST_F(JournalTest, TwoRowsThatChangedPlacesAreNamed) {
  write(0, 4);
  change(
      "UPDATE journal SET sequence = 99 WHERE sequence = 2;"
      "UPDATE journal SET sequence = 2 WHERE sequence = 3;"
      "UPDATE journal SET sequence = 3 WHERE sequence = 99");
  EXPECT_THAT(replay_error().message, HasSubstr("row 2"));
}

TEST_F(JournalTest, ANewerRowFormatIsRefused) {
  write(0, 2);
  change("UPDATE journal SET format = 7 WHERE sequence = 2");
  const auto error = replay_error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.message, HasSubstr("format 7"));
}

TEST_F(JournalTest, ANewerFileIsRefused) {
  write(0, 2);
  change("PRAGMA user_version = 99");
  const auto error = replay_error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.message, HasSubstr("newer"));
}

TEST_F(JournalTest, OtherFilesAreRefused) {
  std::ofstream(path_) << std::string(5'000, 'x');
  EXPECT_EQ(replay_error().code, ErrorCode::corrupt);
  std::filesystem::remove(path_);
  change("CREATE TABLE other (a)");
  EXPECT_THAT(replay_error().message, HasSubstr("not a journal"));
}

TEST_F(JournalTest, WhatIsStagedIsThereAfterTheNextAppend) {
  {
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal) << journal.error().message;
    read(*journal);
    ASSERT_TRUE(journal->stage({fact(0), fact(1)}));
    EXPECT_EQ(journal->last_sequence(), 0U);
    ASSERT_TRUE(journal->stage({fact(2)}));
    ASSERT_TRUE(journal->append({fact(3)}));
    EXPECT_EQ(journal->last_sequence(), 4U);
    ASSERT_TRUE(journal->stage({fact(4)}));
    ASSERT_TRUE(journal->append({}));
    ASSERT_TRUE(journal->stage({fact(5)}));
  }
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  const auto facts = read(*journal);
  ASSERT_EQ(facts.size(), 5U) << "the last one was only staged";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(facts[i] == fact(i));
}

TEST_F(JournalTest, AnEmptyAppendWritesNothing) {
  write(0, 0);
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  read(*journal);
  EXPECT_TRUE(journal->append({}));
  EXPECT_EQ(journal->last_sequence(), 0u);
}

}  // namespace
}  // namespace lockstep::launcher
