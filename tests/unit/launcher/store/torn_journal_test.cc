// A journal whose files were cut, zeroed or changed: what is read is a prefix of what was written,
// or an error that says where it is damaged; never anything else, and what was synced before the
// last commit never vanishes in silence.
//
// Every byte of the last 64 KiB with LOCKSTEP_EVERY_BYTE=1 (minutes); else every byte near the
// borders of frames and pages, and one in 61 of the others.

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "common/base/check.h"
#include "common/io/file_system.h"
#include "launcher/sqlite/database.h"
#include "launcher/store/journal.h"
#include "launcher/store/journal_check.h"
#include "launcher/store/journal_place.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kTail = 64 << 10, kPage = 4096, kFrame = 24 + kPage;

// One journal with every kind of fact, of a WAL of more than 64 KiB; and the same one with all of
// it in the database.
class TornJournal : public testing::Test {
 protected:
  TornJournal() {
    path_ = directory_ + "/journal.db";
    auto journal = Journal::open(path_);
    CHECK(journal && journal->replay([](const StampedFact&) {}), "a new journal");
    for (int round = 0; round < 24; ++round) {
      test::for_each_alternative<Fact>([&](const Fact& fact) {
        facts_.push_back({{static_cast<std::int64_t>(facts_.size())}, fact});
        CHECK(journal->append({facts_.back()}), "an append");
      });
      if (round == 20) checkpoint();
    }
    db_ = io::read_file(path_).value_or("");
    wal_ = io::read_file(path_ + "-wal").value_or("");
    journal = Result<Journal>(make_error(ErrorCode::internal, "closed"));  // all into the database
    whole_ = io::read_file(path_).value_or("");
    CHECK(wal_.size() > kTail && whole_.size() > kTail, "more than the test looks at");
  }

  void checkpoint() {
    auto db = Database::open(path_);
    CHECK(db && db->number("PRAGMA wal_checkpoint(TRUNCATE)"), "a checkpoint");
  }

  static void put(const std::string& path, std::string_view bytes) {
    auto file = io::open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    CHECK(file && io::write_all(file->get(), bytes), "a file of the test");
  }
  // How many facts are read of these files; nullopt: an error, in error_.
  std::optional<std::size_t> read(std::string_view db, std::string_view wal) {
    for (const char* end : {"-wal", "-shm"}) (void)io::remove_tree(path_ + end);
    put(path_, db);
    if (!wal.empty()) put(path_ + "-wal", wal);
    auto journal = Journal::open(path_);
    if (!journal) return failed(journal.error());
    std::size_t count = 0;
    bool same = true;
    const auto done = journal->replay([&](const StampedFact& fact) {
      same = same && count < facts_.size() && fact == facts_[count];
      ++count;
    });
    EXPECT_TRUE(same) << "what was never written was read";
    if (!done) return failed(done.error());
    return count;
  }
  std::optional<std::size_t> failed(const Error& error) {
    error_ = error;
    EXPECT_THAT(error.message, HasSubstr(path_));
    EXPECT_THAT(error.code, AnyOf(ErrorCode::corrupt, ErrorCode::unsupported)) << error.message;
    return std::nullopt;
  }
  // The bytes of the last 64 KiB to look at.
  template <typename Each>
  void each_byte(std::size_t size, std::size_t first, std::size_t step, const Each& each) {
    const bool all = std::getenv("LOCKSTEP_EVERY_BYTE") != nullptr;
    for (std::size_t at = size - kTail; at < size && !HasFailure(); ++at) {
      const std::size_t in = (at + step - first) % step;
      if (all || in <= 24 || in + 8 >= step || at % 61 == 0) each(at);
    }
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string& directory_ = dir_.path();
  std::string path_, db_, wal_, whole_;
  std::vector<StampedFact> facts_;
  Error error_;
};

TEST_F(TornJournal, AWalCutAtAnyByteIsAPrefix) {
  std::size_t before = 0;
  each_byte(wal_.size(), 32, kFrame, [&](std::size_t at) {
    SCOPED_TRACE(at);
    const auto count = read(db_, std::string_view(wal_).substr(0, at));
    ASSERT_TRUE(count) << error_.message;
    EXPECT_GE(*count, before);
    before = *count;
  });
  EXPECT_GE(before + 1, facts_.size());
  EXPECT_EQ(read(db_, wal_), facts_.size());
}

TEST_F(TornJournal, AWalThatIsZeroFromAnyByteOnIsAPrefix) {
  std::size_t before = 0;
  each_byte(wal_.size(), 32, kFrame, [&](std::size_t at) {
    SCOPED_TRACE(at);
    std::string wal = wal_.substr(0, at);
    wal.resize(wal_.size());
    const auto count = read(db_, wal);
    ASSERT_TRUE(count) << error_.message;
    EXPECT_GE(*count, before);
    before = *count;
  });
}

TEST_F(TornJournal, ADatabaseCutAtAnyByteIsAPrefixOrSaysSo) {
  std::size_t errors = 0;
  each_byte(whole_.size(), 0, kPage, [&](std::size_t at) {
    SCOPED_TRACE(at);
    const auto count = read(std::string_view(whole_).substr(0, at), "");
    if (!count) ++errors;
    // What was there may not be less in silence.
    if (count) {
      EXPECT_EQ(*count, facts_.size());
    }
  });
  EXPECT_GT(errors, 0u);
}

TEST_F(TornJournal, ADatabaseThatIsZeroFromAnyByteOnIsAPrefixOrSaysSo) {
  each_byte(whole_.size(), 0, kPage, [&](std::size_t at) {
    SCOPED_TRACE(at);
    std::string db = whole_.substr(0, at);
    db.resize(whole_.size());
    const auto count = read(db, "");
    if (count) {
      EXPECT_EQ(*count, facts_.size());
    }
  });
}

// Of a bit in what no row uses nobody needs to know.
TEST_F(TornJournal, AFlippedBitOfTheDatabaseIsNamed) {
  std::mt19937_64 random(15);
  int rows_named = 0, harmless = 0;
  for (int i = 0; i < 2'000 && !HasFailure(); ++i) {
    std::string db = whole_;
    const std::size_t at = random() % db.size();
    db[at] = static_cast<char>(db[at] ^ (1 << (random() % 8)));
    SCOPED_TRACE(at);
    const auto count = read(db, "");
    if (count) {
      EXPECT_EQ(*count, facts_.size());
      ++harmless;
    } else if (error_.message.find("(byte ") != std::string::npos) {
      EXPECT_THAT(error_.message, HasSubstr("row "));
      ++rows_named;
    }
  }
  EXPECT_GT(rows_named, 1'000);
  EXPECT_LT(harmless, 600);
}

TEST_F(TornJournal, TheByteThatIsNamedIsThatOfTheRow) {
  for (const std::uint64_t row : {1u, 2u, 30u, 60u, 90u, 200u}) {
    const auto place = place_of_row(path_, row);
    ASSERT_TRUE(place);
    std::string db = whole_;
    // In its checksum or payload: behind the sizes and the record's header.
    db[*place + 20] = static_cast<char>(db[*place + 20] ^ 1);
    EXPECT_FALSE(read(db, ""));
    EXPECT_THAT(error_.message, HasSubstr("row " + std::to_string(row) + " (byte " +
                                          std::to_string(*place) + " of the file)"));
    put(path_, whole_);
  }
}

// SQLite takes what stands before it, and forgets the rest.
TEST_F(TornJournal, AFlippedBitOfTheWalBeforeTheLastCommitIsNamed) {
  const std::size_t last = wal_.size() - 6 * kFrame;  // more frames than the last commit has
  std::mt19937_64 random(16);
  for (int i = 0; i < 2'000 && !HasFailure(); ++i) {
    std::string wal = wal_;
    const std::size_t at = random() % last;
    wal[at] = static_cast<char>(wal[at] ^ (1 << (random() % 8)));
    SCOPED_TRACE(at);
    const auto count = read(db_, wal);
    ASSERT_FALSE(count) << *count << " of " << facts_.size() << " rows were read";
    const std::size_t frame = at < 32 ? 0 : 32 + (at - 32) / kFrame * kFrame;
    EXPECT_THAT(error_.message, HasSubstr("-wal is damaged"));
    EXPECT_THAT(error_.message, HasSubstr("at byte " + std::to_string(frame) + " "));
  }
}

TEST_F(TornJournal, ADamagedWalIsLookedAtAndLeftAsItIs) {
  std::string wal = wal_;
  wal[32 + 9 * kFrame + 100] ^= 4;
  EXPECT_FALSE(read(db_, wal));
  const auto check = check_journal(path_);
  ASSERT_TRUE(check) << check.error().message;
  ASSERT_FALSE(check->problems.empty());
  EXPECT_THAT(check->problems[0], HasSubstr("-wal is damaged"));
  ASSERT_TRUE(check->broken);
  EXPECT_EQ(*check->broken, check->rows + 1);
  EXPECT_LT(check->rows, facts_.size());
  EXPECT_EQ(io::read_file(path_ + "-wal").value_or(""), wal);
  EXPECT_THAT(*io::list_directory(directory_),
              ElementsAre("journal.db", "journal.db-wal", "journal.db.least"));
  // Given up by hand, the rest goes on, and the whole is kept beside.
  const auto copy = truncate_journal(path_, *check->broken);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(io::read_file(*copy + "-wal").value_or(""), wal);
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  std::size_t count = 0;
  ASSERT_TRUE(
      journal->replay([&](const StampedFact& fact) { EXPECT_TRUE(fact == facts_[count++]); }));
  EXPECT_EQ(count, check->rows);
}

TEST_F(TornJournal, ADamagedPageIsToldOnceAndInOneLine) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t page = 1; page < whole_.size() / kPage; page += 3) {
    SCOPED_TRACE(page);
    std::string db = whole_;
    db.replace(page * kPage, 16, std::string(16, '\xff'));
    put(path_, db);
    const auto check = check_journal(path_);
    if (!check) continue;  // the page that names the tables
    std::set<std::string> told;
    for (const std::string& problem : check->problems) {
      EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
      EXPECT_EQ(problem.find("***"), std::string::npos) << problem;
      EXPECT_TRUE(told.insert(problem).second) << problem;
    }
    EXPECT_FALSE(told.empty());
  }
}

}  // namespace
}  // namespace lockstep::launcher
