#pragma once
// A thin wrapper of one SQLite connection and its prepared statements that returns Result instead
// of error codes. The rooms that keep something in SQLite use it (launcher/store, metrics,
// archive); it knows none of their tables. One thread at a time uses a connection and its
// statements.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lockstep::launcher {

class Statement {
 public:
  void bind(int index, std::int64_t value);
  void bind_real(int index, double value);  // SQLite keeps NaN as NULL
  void bind_null(int index);
  void bind_blob(int index, std::string_view value);  // must outlive the step
  void bind_text(int index, std::string_view value);  // the same
  // True: a row is there. False: done. An error names the database.
  Result<bool> step();
  // Executes a statement that has no rows, and resets it.
  Status run();
  void reset();
  std::int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;
  std::string_view blob(int column) const;  // of a text too; until the next step

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string path_;
};

class Database {
 public:
  static Result<Database> open(const std::string& path);
  const std::string& path() const { return path_; }
  Status execute(const char* sql);
  Result<Statement> prepare(const char* sql);
  Result<std::int64_t> number(const char* sql);  // the first column of the only row
  std::int64_t changes() const;                  // rows that the last statement changed
  std::int64_t last_row() const;                 // rowid of the last row that was inserted
  // False also when SQLite has rolled a transaction back by itself, as it may after an error.
  bool is_in_transaction() const;

  // Makes `test` a function of SQL with two texts and the result 1 or 0; NULL if one is NULL. It
  // must depend on its arguments alone, and throws nothing.
  using Test = bool (*)(std::string_view, std::string_view);
  Status add_test(const char* name, Test test);

  // From now on statements may take so many steps of SQLite's machine together; then they fail with
  // resource_exhausted. 0: any number. It counts work and not time, so the same question has the
  // same answer on every machine.
  void limit_work(std::uint64_t steps);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Error error(const char* doing) const;
  std::string path_;
  std::unique_ptr<std::uint64_t> work_left_;  // behind a pointer, because SQLite keeps its address
  std::unique_ptr<sqlite3, Close> db_;
};

// A transaction that is rolled back unless commit() was called. `db` must outlive it.
class Transaction {
 public:
  static Result<Transaction> begin(Database& db);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : db_(other.db_) { other.db_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  Status commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

}  // namespace lockstep::launcher
