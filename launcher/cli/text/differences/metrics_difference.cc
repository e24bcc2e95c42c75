#include "launcher/cli/text/differences/metrics_difference.h"

#include <map>
#include <string>
#include <utility>

#include "launcher/api/json/metrics.h"

namespace lockstep::cli {

std::vector<FieldDifference> differences_of(const MetricsReply& a, const MetricsReply& b) {
  std::map<std::string, std::pair<Json, Json>> values;
  const auto take = [&](const MetricsReply& logged, auto side) {
    for (const metrics::MetricSummary& metric : logged.metrics) {
      const std::string key = "metrics." + metric.name;
      values[key + ".last"].*side = api::json_of(metric.last.value);
      if (metric.least) values[key + ".least"].*side = api::json_of(*metric.least);
      if (metric.greatest) values[key + ".greatest"].*side = api::json_of(*metric.greatest);
    }
    for (const auto& [name, value] : logged.params) values["params." + name].*side = value;
  };
  take(a, &std::pair<Json, Json>::first);
  take(b, &std::pair<Json, Json>::second);
  std::vector<FieldDifference> differences;
  for (auto& [key, both] : values)
    if (both.first != both.second)
      differences.push_back({key, std::move(both.first), std::move(both.second)});
  return differences;
}

}  // namespace lockstep::cli
