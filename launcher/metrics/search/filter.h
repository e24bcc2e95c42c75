#pragma once
// The filters of MLflow's search_runs, as values:
//
//   metrics.loss < 0.5 AND params.`batch size` = '32' AND tags.team ILIKE '%vision%'
//
// Its grammar (mlflow.org/docs/latest/search-runs): clauses joined by AND; entities metrics,
// params, tags, attributes, datasets and their other names; keys that are plain, or in backticks or
// double quotes; texts in single or double quotes. Two things are ours: '' in a text in single
// quotes is one quote, and an error says in which column it is.

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "launcher/metrics/search/field.h"

namespace lockstep::metrics {

enum class Comparison {
  equal,
  unequal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  like,
  ilike,
  in,
  not_in,
};
std::string_view to_string(Comparison comparison);  // "=", "LIKE", …

using Words = std::vector<std::string>;

// A number for metrics and times (times in milliseconds since 1970), words for in and not_in, a
// text for all others.
struct Clause {
  Field field;
  Comparison comparison = Comparison::equal;
  std::variant<double, std::string, Words> value;
  std::size_t column = 1;  // where it begins, in characters
  friend bool operator==(const Clause&, const Clause&) = default;
};

// A run meets a filter when it meets all its clauses.
using Filter = std::vector<Clause>;

inline constexpr std::size_t kMaxClauses = 100;
inline constexpr std::size_t kMaxListedWords = 1'000;  // of one in or not_in

// An empty text is a filter that all runs meet. invalid_argument: "column 17: …".
Result<Filter> parse_filter(std::string_view text);

// The filter as a text that parse_filter() reads as the same filter.
std::string to_string(const Filter& filter);

}  // namespace lockstep::metrics
