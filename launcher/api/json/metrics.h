#pragma once
// What jobs have logged, as JSON. See value.h. What is no finite number is "NaN", "Infinity" or
// "-Infinity", because JSON has no numbers for them.

#include <map>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/json/value.h"

namespace lockstep::api {

Json json_of(double value);
Json json_of(const std::vector<metrics::MetricSummary>& metrics);
Json to_json(const MetricsReply& logged);
// The metrics alone, each with the values of its trend, which are by metric.
Json metrics_with_trends(const std::vector<metrics::MetricSummary>& metrics,
                         const std::map<std::string, std::vector<double>>& trends);

}  // namespace lockstep::api
