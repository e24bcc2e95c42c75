#pragma once
// What the store of metrics is asked, and what it answers.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runs/curve.h"
#include "common/domain/runs/point.h"
#include "common/domain/runs/run.h"
#include "common/domain/runs/run_data.h"
#include "launcher/metrics/search/filter.h"
#include "launcher/metrics/search/order.h"

namespace lockstep::metrics {

struct CurveQuery {
  RunId run;
  std::string name;
  std::optional<std::uint32_t> attempt = {};  // absent: all
  std::optional<int> rank = {};               // absent: all
  Axis axis = Axis::step;
  std::optional<std::int64_t> from = {}, to = {};  // absent: from the first, to the last
  int buckets = 100;                               // 1 to kMaxBuckets
};
inline constexpr std::uint64_t kCurveWork = 500'000'000;  // steps of SQLite's machine

struct HistoryPage {
  std::vector<LoggedPoint> rows;  // by series, then as is_before()
  std::string next;               // goes on behind the last row; "": there are no more
};
inline constexpr std::size_t kMaxHistoryRows = 25'000;  // of one page, as MLflow

// Whose runs are found: all; else those of `owner`, and those that are shared with the members of
// `projects`.
struct MayRead {
  bool all = false;
  std::string owner = {};
  std::vector<std::string> projects = {};
};
struct SearchQuery {
  enum class View { active, deleted, all };
  std::vector<std::string> experiments = {};  // empty: all
  Filter filter = {};
  std::vector<Order> orders = {};  // then the newest first
  View view = View::active;
  MayRead may_read = {};
  std::uint64_t offset = 0;
  std::size_t limit = 1'000;  // at most kMaxFoundRuns
};
struct SearchPage {
  std::vector<FoundRun> runs;
  std::optional<std::uint64_t> next_offset;  // absent: there are no more
};
inline constexpr std::size_t kMaxFoundRuns = 1'000;        // of one page
inline constexpr std::size_t kMaxFoundBytes = 8u << 20;    // the same, about
inline constexpr std::uint64_t kSearchWork = 100'000'000;  // steps of SQLite's machine; about 2 s

}  // namespace lockstep::metrics
