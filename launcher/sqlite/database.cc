#include "launcher/sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "launcher/sqlite/disk_vfs.h"

namespace lockstep::launcher {

namespace {

ErrorCode class_of(int code) {
  // A damaged record may claim to be longer than a value can be.
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_TOOBIG)
    return ErrorCode::corrupt;
  if (code == SQLITE_INTERRUPT) return ErrorCode::resource_exhausted;  // limit_work()
  return code == SQLITE_FULL ? ErrorCode::resource_exhausted : ErrorCode::io;
}

// SQLite asks after each so many steps.
constexpr int kStepsPerLook = 1'000;

int is_work_over(void* left) {
  auto& steps = *static_cast<std::uint64_t*>(left);
  if (steps < kStepsPerLook) return 1;
  steps -= kStepsPerLook;
  return 0;
}

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// A function pointer does not fit into a void* by the standard, so SQLite keeps that of a box.
struct TestBox {
  Database::Test test;
};

void run_test(sqlite3_context* context, int count, sqlite3_value** values) {
  if (count != 2 || sqlite3_value_type(values[0]) == SQLITE_NULL ||
      sqlite3_value_type(values[1]) == SQLITE_NULL)
    return sqlite3_result_null(context);
  const auto* box = static_cast<const TestBox*>(sqlite3_user_data(context));
  sqlite3_result_int(context, box->test(text_of(values[0]), text_of(values[1])) ? 1 : 0);
}

void free_box(void* box) { delete static_cast<TestBox*>(box); }

// What the system said behind SQLite's own words.
std::string cause_of(sqlite3* db, int code) {
  if (code == SQLITE_FULL) return fmt::format(" ({})", std::strerror(ENOSPC));
  const int noted = take_sqlite_errno();
  const int system = noted != 0 ? noted : sqlite3_system_errno(db);
  const bool asked = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  if (!asked || system == 0) return "";
  const bool sync = sqlite3_extended_errcode(db) == SQLITE_IOERR_FSYNC;
  return fmt::format(" ({}{})", sync ? "fsync: " : "", std::strerror(system));
}

Error sqlite_error(sqlite3* db, const std::string& path, const char* doing) {
  if (db == nullptr) return make_error(ErrorCode::io, path + ": out of memory");
  const int code = sqlite3_errcode(db) & 0xff;
  return make_error(class_of(code), fmt::format("{}: {}: {}{}", path, doing, sqlite3_errmsg(db),
                                                cause_of(db, code)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind_real(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
}

void Statement::bind_null(int index) { sqlite3_bind_null(statement_.get(), index); }

void Statement::bind_blob(int index, std::string_view value) {
  // A null pointer would bind NULL instead of an empty blob.
  sqlite3_bind_blob64(statement_.get(), index, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_STATIC);
}

void Statement::bind_text(int index, std::string_view value) {
  // A null pointer would bind NULL instead of an empty text.
  sqlite3_bind_text(statement_.get(), index, value.empty() ? "" : value.data(),
                    static_cast<int>(value.size()), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    default:
      return sqlite_error(sqlite3_db_handle(statement_.get()), path_, "cannot execute a statement");
  }
}

Status Statement::run() {
  auto done = step();
  reset();
  if (!done) return std::move(done).error();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Error Database::error(const char* doing) const { return sqlite_error(db_.get(), path_, doing); }

Result<Database> Database::open(const std::string& path) {
  Database database;
  database.path_ = path;
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, sqlite_disk());
  database.db_.reset(db);
  if (code != SQLITE_OK) return database.error("cannot open");
  sqlite3_extended_result_codes(db, 0);
  return database;
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error(sql);
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
      SQLITE_OK) {
    auto failed = error(sql);
    // Our SQL is right: the tables are not those that we made.
    if ((sqlite3_errcode(db_.get()) & 0xff) == SQLITE_ERROR) failed.code = ErrorCode::corrupt;
    return failed;
  }
  Statement statement;
  statement.statement_.reset(raw);
  statement.path_ = path_;
  return statement;
}

Result<std::int64_t> Database::number(const char* sql) {
  TRY_ASSIGN(auto statement, prepare(sql));
  TRY_ASSIGN(const bool row, statement.step());
  if (!row) return make_error(ErrorCode::corrupt, path_ + ": no result for " + sql);
  return statement.integer(0);
}

std::int64_t Database::changes() const { return sqlite3_changes64(db_.get()); }

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(db_.get()); }

bool Database::is_in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

Status Database::add_test(const char* name, Test test) {
  // SQLite frees the box, after an error too.
  const int code =
      sqlite3_create_function_v2(db_.get(), name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 new TestBox{test}, run_test, nullptr, nullptr, free_box);
  if (code != SQLITE_OK) return error(name);
  return {};
}

void Database::limit_work(std::uint64_t steps) {
  if (steps == 0) return sqlite3_progress_handler(db_.get(), 0, nullptr, nullptr);
  if (!work_left_) work_left_ = std::make_unique<std::uint64_t>();
  *work_left_ = steps;
  sqlite3_progress_handler(db_.get(), kStepsPerLook, is_work_over, work_left_.get());
}

Result<Transaction> Transaction::begin(Database& db) {
  TRY(db.execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // SQLite may have ended it already, after an error.
  if (db_ != nullptr) (void)db_->execute("ROLLBACK");
}

Status Transaction::commit() {
  TRY(db_->execute("COMMIT"));
  db_ = nullptr;
  return {};
}

}  // namespace lockstep::launcher
