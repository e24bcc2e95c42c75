#pragma once
// A search as SQL. Only launcher/metrics uses it.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "launcher/metrics/questions.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

struct SearchSql {
  std::string text;  // selects what run_rows.h describes
  std::vector<std::variant<std::int64_t, double, std::string>> values;  // of its parameters
};

// One row more than the limit, so that the caller knows whether there are more. unsupported: see
// Reader::search(). invalid_argument: a limit is exceeded.
Result<SearchSql> search_sql(const SearchQuery& query);

void bind_values_of(Statement& statement, const SearchSql& sql);

}  // namespace lockstep::metrics
