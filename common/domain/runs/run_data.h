#pragma once
// What a run has logged, as those who ask are told it.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runs/point.h"
#include "common/domain/runs/run.h"

namespace lockstep::metrics {

// Of one metric of a run, over all ranks and attempts.
struct MetricSummary {
  std::string name;
  std::uint32_t attempt = 0;                        // the newest that logged it
  Point last;                                       // of that attempt: the greatest in is_before()
  std::optional<double> least = {}, greatest = {};  // absent: all were NaN
  std::int64_t least_step = 0, greatest_step = 0;   // where these were logged first
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "attempt", s.attempt);
    see(field<3>, "last", s.last);
    see(field<4>, "least", s.least, {.not_finite = true});
    see(field<5>, "greatest", s.greatest, {.not_finite = true});
    see(field<6>, "least_step", s.least_step);
    see(field<7>, "greatest_step", s.greatest_step);
  }
  friend bool operator==(const MetricSummary&, const MetricSummary&) = default;
};

// What MLflow calls the data of a run.
struct RunData {
  std::vector<MetricSummary> metrics;  // by name
  std::map<std::string, std::string> params, tags;
};

// Who logged a series.
struct SeriesId {
  std::uint32_t attempt = 0;
  std::uint64_t incarnation = 0;
  int rank = 0;
  friend auto operator<=>(const SeriesId&, const SeriesId&) = default;
};

struct LoggedPoint {
  SeriesId series;
  Point point;
};

struct FoundRun {
  RunInfo info;
  RunData data;
};

}  // namespace lockstep::metrics
