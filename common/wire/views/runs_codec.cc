#include "common/wire/views/runs_codec.h"

namespace lockstep::pb {

namespace {

// Of one reply; the launcher's store keeps no more series of a job.
constexpr std::size_t kMaxListed = 100'000;

}  // namespace

void to_wire(const metrics::MetricSummary& from, MetricSummary* to) {
  to->set_name(from.name);
  to->set_attempt(from.attempt);
  to->mutable_last()->set_step(from.last.step);
  to->mutable_last()->set_time_ns(from.last.time.ns);
  to->mutable_last()->set_value(from.last.value);
  if (from.least) to->set_least(*from.least);
  if (from.greatest) to->set_greatest(*from.greatest);
  to->set_least_step(from.least_step);
  to->set_greatest_step(from.greatest_step);
}
Status from_wire(const MetricSummary& from, metrics::MetricSummary* to) {
  TRY(read_text(from.name(), "metric.name", &to->name));
  to->attempt = from.attempt();
  to->last.step = from.last().step();
  TRY(read_instant(from.last().time_ns(), "metric.last.time_ns", &to->last.time));
  to->last.value = from.last().value();
  if (from.has_least()) to->least = from.least();
  if (from.has_greatest()) to->greatest = from.greatest();
  to->least_step = from.least_step();
  to->greatest_step = from.greatest_step();
  return {};
}

void to_wire(const metrics::Bucket& from, MetricBucket* to) {
  to->set_first(from.first);
  to->set_last_at(from.last_at);
  to->set_points(from.points);
  to->set_nans(from.nans);
  to->set_min(from.min);
  to->set_max(from.max);
  to->set_last(from.last);
}
Status from_wire(const MetricBucket& from, metrics::Bucket* to) {
  *to = {from.first(), from.last_at(), from.points(), from.nans(),
         from.min(),   from.max(),     from.last()};
  return {};
}

void to_wire(const metrics::Curve& from, MetricCurve* to) {
  to->set_attempt(from.series.attempt);
  to->set_incarnation(from.series.incarnation);
  to->set_rank(from.series.rank);
  to->set_points(from.points);
  to->set_thinned(from.thinned);
  write_list(from.buckets, to->mutable_buckets());
}
Status from_wire(const MetricCurve& from, metrics::Curve* to) {
  to->series.attempt = from.attempt();
  to->series.incarnation = from.incarnation();
  TRY(read_rank(from.rank(), "curve.rank", &to->series.rank));
  to->points = from.points();
  to->thinned = from.thinned();
  return read_list(from.buckets(), static_cast<std::size_t>(metrics::kMaxBuckets), "curve.buckets",
                   &to->buckets);
}

void to_wire(const lockstep::GetMetrics& from, GetMetrics* to) {
  to->set_job(from.job.value);
  to->set_name(from.name);
  to->set_along_time(from.axis == metrics::Axis::time);
  to->set_buckets(from.buckets);
}
Status from_wire(const GetMetrics& from, lockstep::GetMetrics* to) {
  TRY(read_job(from.job(), "get_metrics.job", &to->job));
  TRY(read_text(from.name(), "get_metrics.name", &to->name, metrics::kMaxMetricNameBytes));
  to->axis = from.along_time() ? metrics::Axis::time : metrics::Axis::step;
  return read_number(from.buckets(), 1, metrics::kMaxBuckets, "get_metrics.buckets", &to->buckets);
}

void to_wire(const lockstep::MetricsReply& from, MetricsReply* to) {
  write_list(from.metrics, to->mutable_metrics());
  write_list(from.curves, to->mutable_curves());
  write_map(from.params, to->mutable_params());
  write_map(from.tags, to->mutable_tags());
}
Status from_wire(const MetricsReply& from, lockstep::MetricsReply* to) {
  TRY(read_list(from.metrics(), kMaxListed, "metrics_reply.metrics", &to->metrics));
  TRY(read_list(from.curves(), metrics::kMaxCurves, "metrics_reply.curves", &to->curves));
  TRY(read_map(from.params(), kMaxListed, "metrics_reply.params", &to->params));
  return read_map(from.tags(), kMaxListed, "metrics_reply.tags", &to->tags);
}

}  // namespace lockstep::pb
