// The wrapper over real files: values come back as they were bound, errors name the file, a
// transaction that was not committed leaves nothing, and whose a database is decides who opens it.

#include "launcher/sqlite/database.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "launcher/sqlite/database_files.h"
#include "launcher/sqlite/schema.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

constexpr Schema kShelf{0x53484c46, 2, "a shelf", "CREATE TABLE book (id INTEGER PRIMARY KEY)"};

class DatabaseTest : public testing::Test {
 protected:
  Database must_open(const std::string& path) {
    auto db = Database::open(path);
    CHECK(db, "a database of the test");
    return std::move(*db);
  }
  void must(Database& db, const char* sql) {
    const auto done = db.execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "some.db";
};

TEST_F(DatabaseTest, ValuesComeBackAsTheyWereBound) {
  Database db = must_open(path_);
  must(db, "CREATE TABLE t (i INTEGER, r REAL, x TEXT, b BLOB)");
  auto insert = db.prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  ASSERT_TRUE(insert);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {0.1, infinite, -infinite, std::nan("")}) {
    insert->bind(1, INT64_MIN);
    insert->bind_real(2, value);
    insert->bind_text(3, {});
    insert->bind_blob(4, std::string_view("a\0b", 3));
    ASSERT_TRUE(insert->run());
    EXPECT_EQ(db.changes(), 1);
  }
  EXPECT_EQ(db.last_row(), 4);
  auto rows = db.prepare("SELECT * FROM t ORDER BY rowid");
  ASSERT_TRUE(rows);
  for (const double value : {0.1, infinite, -infinite}) {
    ASSERT_TRUE(rows->step().value());
    EXPECT_EQ(rows->integer(0), INT64_MIN);
    EXPECT_EQ(rows->real(1), value);
    EXPECT_FALSE(rows->is_null(2));
    EXPECT_EQ(rows->blob(3), std::string_view("a\0b", 3));
  }
  ASSERT_TRUE(rows->step().value());
  EXPECT_TRUE(rows->is_null(1)) << "NaN is NULL";
  EXPECT_FALSE(rows->step().value());
}

TEST_F(DatabaseTest, AnErrorNamesTheFile) {
  Database db = must_open(path_);
  const auto bad = db.execute("SELECT * FROM nothing");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr(path_));
  dir_.file("text.db", std::string(4'096, 'x'));
  Database text = must_open(dir_ / "text.db");
  const auto corrupt = text.number("SELECT count(*) FROM sqlite_master");
  ASSERT_FALSE(corrupt);
  EXPECT_EQ(corrupt.error().code, ErrorCode::corrupt);
}

TEST_F(DatabaseTest, WhatWasNotCommittedIsRolledBack) {
  Database db = must_open(path_);
  must(db, "CREATE TABLE t (i INTEGER)");
  {
    auto transaction = Transaction::begin(db);
    ASSERT_TRUE(transaction);
    must(db, "INSERT INTO t VALUES (1)");
  }
  EXPECT_EQ(db.number("SELECT count(*) FROM t").value(), 0);
  {
    auto transaction = Transaction::begin(db);
    ASSERT_TRUE(transaction);
    must(db, "INSERT INTO t VALUES (1)");
    ASSERT_TRUE(transaction->commit());
  }
  EXPECT_EQ(db.number("SELECT count(*) FROM t").value(), 1);
}

TEST_F(DatabaseTest, ATestOfOursIsAFunctionOfSql) {
  Database db = must_open(path_);
  ASSERT_TRUE(db.add_test("ends_with", [](std::string_view text, std::string_view end) {
    return text.ends_with(end);
  }));
  EXPECT_EQ(db.number("SELECT ends_with('abc', 'bc')").value(), 1);
  EXPECT_EQ(db.number("SELECT ends_with('abc', 'ab')").value(), 0);
  EXPECT_EQ(db.number("SELECT ends_with('abc', NULL) IS NULL").value(), 1);
}

TEST_F(DatabaseTest, WorkIsLimited) {
  Database db = must_open(path_);
  constexpr const char* kCount =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
      "SELECT count(*) FROM n";
  db.limit_work(50'000);
  const auto refused = db.number(kCount);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  db.limit_work(100'000'000);
  EXPECT_EQ(db.number(kCount).value(), 100'000);
  db.limit_work(0);
  EXPECT_EQ(db.number(kCount).value(), 100'000);
}

TEST_F(DatabaseTest, TheSchemaSaysWhoseItIs) {
  {
    Database db = must_open(path_);
    ASSERT_TRUE(open_schema(db, kShelf));
    ASSERT_TRUE(open_schema(db, kShelf)) << "again";
    EXPECT_EQ(db.number("SELECT count(*) FROM book").value(), 0);
    EXPECT_TRUE(checkpoint_wal(db));
  }
  Database db = must_open(path_);
  Schema older = kShelf;
  older.version = 1;
  const auto newer = open_schema(db, older);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::unsupported);
  EXPECT_THAT(newer.error().message, HasSubstr("a newer Lockstep"));
  Schema other = kShelf;
  other.application = 1;
  const auto foreign = open_schema(db, other);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::corrupt);
}

TEST_F(DatabaseTest, ItsFilesMoveTogether) {
  {
    Database db = must_open(path_);
    must(db, "CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (7)");
  }
  const std::string to = dir_ / "other.db";
  dir_.file("other.db", "what was there");
  dir_.file("other.db-wal", "what was beside it");
  ASSERT_TRUE(replace_database(path_, to));
  EXPECT_FALSE(io::exists(path_));
  EXPECT_FALSE(io::exists(to + "-wal"));
  EXPECT_EQ(must_open(to).number("SELECT i FROM t").value(), 7);
  for (int i = 0; i < 2; ++i) {
    dir_.file("other.db", "damaged" + std::to_string(i));
    dir_.file("other.db-wal", "its WAL");
    const auto kept = set_aside(to);
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(*kept, to + ".damaged");
    EXPECT_EQ(dir_.read("other.db.damaged"), "damaged" + std::to_string(i));
    EXPECT_EQ(dir_.read("other.db.damaged-wal"), "its WAL");
    EXPECT_FALSE(io::exists(to));
  }
  ASSERT_TRUE(remove_database(to + ".damaged"));
  EXPECT_FALSE(io::exists(to + ".damaged-wal"));
  EXPECT_TRUE(remove_database(to + ".damaged")) << "what is missing is removed";
}

}  // namespace
}  // namespace lockstep::launcher
