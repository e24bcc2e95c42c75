#pragma once
// A thin wrapper of one SQLite connection and its prepared statements that returns Result instead
// of error codes. Only launcher/store uses it.

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
  void bind_blob(int index, std::string_view value);  // must outlive the step
  void bind_text(int index, std::string_view value);  // must outlive the step
  // Takes a step. True: there is a row. False: done. An error names the database.
  Result<bool> step();
  void reset();
  std::int64_t integer(int column) const;
  std::string_view blob(int column) const;  // valid until the next step

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

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Error error(const char* doing) const;
  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace lockstep::launcher
