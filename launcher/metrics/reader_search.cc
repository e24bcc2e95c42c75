#include <algorithm>
#include <map>
#include <string>

#include "launcher/metrics/reader.h"
#include "launcher/metrics/run_rows.h"
#include "launcher/metrics/search_sql.h"

namespace lockstep::metrics {

namespace {

std::size_t size_of(const std::map<std::string, std::string>& texts) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : texts) bytes += key.size() + value.size() + 16;
  return bytes;
}

// About what it takes in an answer.
std::size_t size_of(const FoundRun& run) {
  std::size_t bytes = 200 + run.info.title.size() + run.info.experiment.size();
  for (const MetricSummary& metric : run.data.metrics) bytes += 100 + metric.name.size();
  return bytes + size_of(run.data.params) + size_of(run.data.tags);
}

}  // namespace

Result<SearchPage> Reader::found_by(const SearchQuery& query) {
  TRY_ASSIGN(const SearchSql sql, search_sql(query));
  TRY_ASSIGN(auto rows, db_.prepare(sql.text.c_str()));
  bind_values_of(rows, sql);
  SearchPage page;
  std::size_t bytes = 0;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return page;
    const bool is_full = page.runs.size() >= std::min(query.limit, kMaxFoundRuns) ||
                         (bytes >= kMaxFoundBytes && !page.runs.empty());
    if (is_full) {
      page.next_offset = query.offset + page.runs.size();
      return page;
    }
    FoundRun found{info_in(rows), {}};
    TRY_ASSIGN(found.data, data_of(rows.integer(0)));
    bytes += size_of(found);
    page.runs.push_back(std::move(found));
  }
}

Result<SearchPage> Reader::search(const SearchQuery& query) {
  db_.limit_work(kSearchWork);
  auto page = found_by(query);
  db_.limit_work(0);
  if (page || page.error().code != ErrorCode::resource_exhausted) return page;
  return make_error(ErrorCode::resource_exhausted,
                    "the search would have to look at too many runs; name an experiment, or filter "
                    "by fewer LIKE clauses");
}

}  // namespace lockstep::metrics
