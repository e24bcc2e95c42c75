#include "launcher/metrics/text_table.h"

#include <fmt/format.h>

#include "common/base/cut.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMostOfAText = 60;  // in an error

std::int64_t size_of_text(const std::string& key, const std::string& value) {
  return static_cast<std::int64_t>(key.size() + value.size());
}

}  // namespace

struct TextTable::Statements {
  Statement find, set, remove, sum_of_run, remove_texts, set_mark, remove_marks;
};

TextTable::TextTable(std::shared_ptr<Statements> statements) : statements_(std::move(statements)) {}

Result<TextTable> TextTable::prepare(Database& db) {
  auto all = std::make_shared<Statements>();
  TRY_ASSIGN(all->find,
             db.prepare("SELECT value FROM text WHERE run = ?1 AND kind = ?2 AND key = ?3"));
  TRY_ASSIGN(all->set, db.prepare("INSERT OR REPLACE INTO text VALUES (?1, ?2, ?3, ?4)"));
  TRY_ASSIGN(all->remove, db.prepare("DELETE FROM text WHERE run = ?1 AND kind = ?2 AND key = ?3"));
  TRY_ASSIGN(all->sum_of_run,
             db.prepare("SELECT coalesce(sum(length(CAST(key AS BLOB)) + "
                        "length(CAST(value AS BLOB))), 0) FROM text WHERE run = ?1"));
  TRY_ASSIGN(all->remove_texts, db.prepare("DELETE FROM text WHERE run = ?1"));
  // An earlier change that is sent again takes nothing back.
  TRY_ASSIGN(all->set_mark,
             db.prepare("INSERT INTO source VALUES (?1, ?2, ?3, ?4) ON CONFLICT (run, source) "
                        "DO UPDATE SET offset = ?3, state = ?4 WHERE ?3 >= offset"));
  TRY_ASSIGN(all->remove_marks, db.prepare("DELETE FROM source WHERE run = ?1"));
  return TextTable(std::move(all));
}

Result<std::optional<std::string>> TextTable::find(std::int64_t run, TextKind kind,
                                                   const std::string& key) {
  Statement& row = statements_->find;
  const ResetAtEnd reset(row);
  bind_values(row, run, kind, key);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<std::string>();
  return std::optional(std::string(row.blob(0)));
}

Result<std::int64_t> TextTable::set(std::int64_t run, TextKind kind, const std::string& key,
                                    const std::string& value,
                                    const std::optional<std::string>& before) {
  bind_values(statements_->set, run, kind, key, value);
  TRY(statements_->set.run());
  return size_of_text(key, value) - (before ? size_of_text(key, *before) : 0);
}

Result<std::int64_t> TextTable::set_param(std::int64_t run, const std::string& key,
                                          const std::string& value) {
  TRY_ASSIGN(const auto before, find(run, TextKind::param, key));
  if (before == value) return 0;
  if (before)
    return make_error(
        ErrorCode::conflict,
        fmt::format("param '{}' is '{}' already and does not change; '{}' needs another name, or a "
                    "tag",
                    cut(key, kMostOfAText), cut(*before, kMostOfAText), cut(value, kMostOfAText)));
  return set(run, TextKind::param, key, value, before);
}

Result<std::int64_t> TextTable::set_tag(std::int64_t run, const std::string& key,
                                        const std::string& value) {
  TRY_ASSIGN(const auto before, find(run, TextKind::tag, key));
  if (before == value) return 0;
  return set(run, TextKind::tag, key, value, before);
}

Result<std::int64_t> TextTable::remove_tag(std::int64_t run, const std::string& key) {
  TRY_ASSIGN(const auto before, find(run, TextKind::tag, key));
  if (!before) return 0;
  bind_values(statements_->remove, run, TextKind::tag, key);
  TRY(statements_->remove.run());
  return -size_of_text(key, *before);
}

Status TextTable::set_mark(std::int64_t run, const SourceMark& mark) {
  bind_values(statements_->set_mark, run, mark.source, mark.offset, mark.state);
  return statements_->set_mark.run();
}

Result<std::int64_t> TextTable::remove_of(std::int64_t run) {
  std::int64_t bytes = 0;
  {
    Statement& sum = statements_->sum_of_run;
    const ResetAtEnd reset(sum);
    bind_values(sum, run);
    TRY(sum.step());
    bytes = sum.integer(0);
  }
  bind_values(statements_->remove_texts, run);
  TRY(statements_->remove_texts.run());
  bind_values(statements_->remove_marks, run);
  TRY(statements_->remove_marks.run());
  return -bytes;
}

}  // namespace lockstep::metrics
