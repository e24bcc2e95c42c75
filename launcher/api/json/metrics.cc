#include "launcher/api/json/metrics.h"

#include <cmath>
#include <optional>

namespace lockstep::api {

namespace {

Json real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json real_or_null(const std::optional<double>& value) {
  return value ? real(*value) : Json(nullptr);
}

Json summary_json(const metrics::MetricSummary& metric) {
  Json json;
  json["name"] = metric.name;
  json["attempt"] = metric.attempt;
  json["last"] = real(metric.last.value);
  json["last_step"] = metric.last.step;
  json["last_at"] = time_or_null(metric.last.time);
  json["least"] = real_or_null(metric.least);
  json["least_step"] = metric.least_step;
  json["greatest"] = real_or_null(metric.greatest);
  json["greatest_step"] = metric.greatest_step;
  return json;
}

Json bucket_json(const metrics::Bucket& bucket) {
  Json json;
  json["first"] = bucket.first;
  json["last_at"] = bucket.last_at;
  json["points"] = bucket.points;
  json["nans"] = bucket.nans;
  json["least"] = real(bucket.min);
  json["greatest"] = real(bucket.max);
  json["last"] = real(bucket.last);
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

Json to_json(const MetricsReply& logged) {
  Json json;
  json["metrics"] = list_of(logged.metrics, summary_json);
  json["params"] = map_of(logged.params);
  json["tags"] = map_of(logged.tags);
  json["curves"] = list_of(logged.curves, curve_json);
  return json;
}

}  // namespace lockstep::api
