#pragma once
// What a job has logged, for people and for spreadsheets.

#include <map>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "launcher/metrics/curves/braille.h"

namespace lockstep::cli {

// By metric: the values of a curve in the order of its axis, for metrics_table.
using Trends = std::map<std::string, std::vector<double>>;
inline constexpr int kTrendBuckets = 20;
// Of the newest attempt, and its lowest rank; empty: there is no curve.
std::vector<double> trend_of(const std::vector<metrics::Curve>& curves);

// A row for each metric; with trends they are drawn in a column of their own. "": there is none.
std::string metrics_table(const std::vector<metrics::MetricSummary>& metrics,
                          const Trends& trends = {});
// "NAME = VALUE" for each.
std::string params_text(const std::map<std::string, std::string>& params);

struct CurveLook {
  bool along_time = false;
  metrics::Scale scale = metrics::Scale::linear;
  int width = 80, height = 12;
};
// The curves of one metric, each below a line that says whose it is.
std::string curves_text(const std::string& metric, const std::vector<metrics::Curve>& curves,
                        const CurveLook& look);

// As RFC 4180 says, with a line of headers: the curves in `logged`, or the metrics without curves.
std::string metrics_csv(const MetricsReply& logged, bool has_curves);

}  // namespace lockstep::cli
