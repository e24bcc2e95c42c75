#pragma once
// The params and tags of runs, and how far their sources were read. Only launcher/metrics uses it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/domain/runs/change.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

class TextTable {
 public:
  static Result<TextTable> prepare(Database& db);  // `db` must outlive it

  // These three return how many bytes of texts the run has more, or less, than before. A tag is
  // replaced; conflict: the param has another value already.
  Result<std::int64_t> set_param(std::int64_t run, const std::string& key,
                                 const std::string& value);
  Result<std::int64_t> set_tag(std::int64_t run, const std::string& key, const std::string& value);
  Result<std::int64_t> remove_tag(std::int64_t run, const std::string& key);
  Status set_mark(std::int64_t run, const SourceMark& mark);
  // All of a run, with its marks.
  Result<std::int64_t> remove_of(std::int64_t run);

 private:
  struct Statements;
  explicit TextTable(std::shared_ptr<Statements> statements);
  Result<std::optional<std::string>> find(std::int64_t run, TextKind kind, const std::string& key);
  Result<std::int64_t> set(std::int64_t run, TextKind kind, const std::string& key,
                           const std::string& value, const std::optional<std::string>& before);
  std::shared_ptr<Statements> statements_;
};

}  // namespace lockstep::metrics
