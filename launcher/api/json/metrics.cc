#include "launcher/api/json/metrics.h"

#include <cmath>
#include <optional>
#include <utility>

namespace lockstep::api {

Json json_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

namespace {

Json json_or_null(const std::optional<double>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

Json summary_json(const metrics::MetricSummary& metric) {
  Json json;
  json["name"] = metric.name;
  json["attempt"] = metric.attempt;
  json["last"] = json_of(metric.last.value);
  json["last_step"] = metric.last.step;
  json["last_at"] = time_or_null(metric.last.time);
  json["least"] = json_or_null(metric.least);
  json["least_step"] = metric.least_step;
  json["greatest"] = json_or_null(metric.greatest);
  json["greatest_step"] = metric.greatest_step;
  return json;
}

Json bucket_json(const metrics::Bucket& bucket) {
  Json json;
  json["first"] = bucket.first;
  json["last_at"] = bucket.last_at;
  json["points"] = bucket.points;
  json["nans"] = bucket.nans;
  json["least"] = json_of(bucket.min);
  json["greatest"] = json_of(bucket.max);
  json["last"] = json_of(bucket.last);
  return json;
}

Json curve_json(const metrics::Curve& curve) {
  Json json;
  json["attempt"] = curve.series.attempt;
  json["rank"] = curve.series.rank;
  json["points"] = curve.points;
  json["thinned"] = curve.thinned;
  json["buckets"] = list_of(curve.buckets, bucket_json);
  return json;
}

}  // namespace

Json metrics_with_trends(const std::vector<metrics::MetricSummary>& metrics,
                         const std::map<std::string, std::vector<double>>& trends) {
  Json list = Json::array();
  for (const metrics::MetricSummary& metric : metrics) {
    Json json = summary_json(metric);
    Json trend = Json::array();
    if (const auto found = trends.find(metric.name); found != trends.end())
      for (const double value : found->second) trend.push_back(json_of(value));
    json["trend"] = std::move(trend);
    list.push_back(std::move(json));
  }
  return list;
}

Json json_of(const std::vector<metrics::MetricSummary>& metrics) {
  return list_of(metrics, summary_json);
}

Json to_json(const MetricsReply& logged) {
  Json json;
  json["metrics"] = list_of(logged.metrics, summary_json);
  json["params"] = map_of(logged.params);
  json["tags"] = map_of(logged.tags);
  json["curves"] = list_of(logged.curves, curve_json);
  return json;
}

}  // namespace lockstep::api
