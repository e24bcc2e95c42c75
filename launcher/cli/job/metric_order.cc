#include "launcher/cli/job/metric_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep::cli {

Result<MetricOrder> read_metric_order(const std::string& words) {
  constexpr std::string_view kBegin = "metrics.", kAscending = ":asc", kDescending = ":desc";
  MetricOrder order;
  std::string_view rest = words;
  order.is_descending = rest.ends_with(kDescending);
  if (order.is_descending)
    rest.remove_suffix(kDescending.size());
  else if (rest.ends_with(kAscending))
    rest.remove_suffix(kAscending.size());
  if (rest.starts_with(kBegin)) order.metric = rest.substr(kBegin.size());
  if (!order.metric.empty() && order.metric.size() <= metrics::kMaxMetricNameBytes) return order;
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is no metric to sort by; write metrics.NAME, or "
                                "metrics.NAME:desc for the greatest first",
                                words.substr(0, 2 * metrics::kMaxMetricNameBytes)));
}

const metrics::MetricSummary* latest_of(const LatestOfJobs& latest, const std::string& job,
                                        const std::string& metric) {
  const auto found = latest.find(JobId(job));
  if (found == latest.end()) return nullptr;
  const auto one = std::find_if(found->second.begin(), found->second.end(),
                                [&](const auto& summary) { return summary.name == metric; });
  return one == found->second.end() ? nullptr : &*one;
}

void sort_jobs(std::vector<JobView>& jobs, const LatestOfJobs& latest, const MetricOrder& order) {
  // 0: a number; 1: none; 2: nothing was logged.
  const auto place_of = [&](const JobView& job) -> std::pair<int, double> {
    const auto* const summary = latest_of(latest, job.spec.name, order.metric);
    if (summary == nullptr) return {2, 0};
    const double value = summary->last.value;
    if (std::isnan(value)) return {1, 0};
    return {0, order.is_descending ? -value : value};
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const JobView& a, const JobView& b) { return place_of(a) < place_of(b); });
}

}  // namespace lockstep::cli
