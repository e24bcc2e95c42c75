#pragma once
// Jobs in the order of what they logged last of a metric. Pure.

#include <map>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"

namespace lockstep::cli {

// "metrics.loss", the least first; "metrics.accuracy:desc", the greatest first.
struct MetricOrder {
  std::string metric;
  bool is_descending = false;
  friend bool operator==(const MetricOrder&, const MetricOrder&) = default;
};
Result<MetricOrder> read_metric_order(const std::string& words);

using LatestOfJobs = std::map<JobId, std::vector<metrics::MetricSummary>>;
// Null: the job has not logged it.
const metrics::MetricSummary* latest_of(const LatestOfJobs& latest, const std::string& job,
                                        const std::string& metric);
// Jobs whose last value is no number come behind all that have one, then those that logged none;
// equal ones stay as they were.
void sort_jobs(std::vector<JobView>& jobs, const LatestOfJobs& latest, const MetricOrder& order);

}  // namespace lockstep::cli
