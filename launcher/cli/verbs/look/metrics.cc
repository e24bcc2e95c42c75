// `lockstep job metrics`: the numbers that a job logged, as a table or as a curve.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "common/base/printable.h"
#include "launcher/api/json/metrics.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/verbs/look/look_verbs.h"
#include "launcher/metrics/curves/braille.h"

namespace lockstep::cli {

namespace {

using metrics::short_number;

constexpr int kWidth = 80, kHeight = 12;  // of a curve where no terminal is
constexpr int kWidest = 200;
constexpr std::size_t kMostDrawn = 20;

struct MetricsOptions {
  std::string job, metric;
  bool along_time = false, logarithmic = false;
  int points = 0;  // 0: as many as are drawn
  Format format = Format::table;
};

std::string table_of(const MetricsReply& logged) {
  Table table({"METRIC", "LAST", "STEP", "LEAST", "AT STEP", "GREATEST", "AT STEP"});
  for (const metrics::MetricSummary& metric : logged.metrics) {
    const bool has_range = metric.least.has_value();
    table.add({in_one_line(metric.name), short_number(metric.last.value),
               std::to_string(metric.last.step), has_range ? short_number(*metric.least) : "",
               has_range ? std::to_string(metric.least_step) : "",
               has_range ? short_number(*metric.greatest) : "",
               has_range ? std::to_string(metric.greatest_step) : ""});
  }
  std::string text = table.text();
  for (const auto& [name, value] : logged.params)
    text += fmt::format("{} = {}\n", in_one_line(name), in_one_line(value));
  return text;
}

std::string drawn(const metrics::Curve& curve, const MetricsOptions& options, int width) {
  std::vector<metrics::Dot> dots;
  for (const metrics::Bucket& bucket : curve.buckets) {
    const auto place = static_cast<double>(bucket.last_at);
    // A spike within a bucket is seen as well as where it ends.
    for (const double value : {bucket.min, bucket.max, bucket.last}) dots.push_back({place, value});
  }
  const auto scale = options.logarithmic ? metrics::Scale::logarithmic : metrics::Scale::linear;
  const auto end_text = [&](std::int64_t place) {
    return options.along_time ? to_string(Instant{place}) : fmt::format("step {}", place);
  };
  std::string text;
  if (curve.buckets.empty()) return text;
  for (const std::string& line :
       metrics::framed_curve(dots, width, kHeight, end_text(curve.buckets.front().first),
                             end_text(curve.buckets.back().last_at), scale))
    text += line + "\n";
  return text;
}

std::string curves_of(const MetricsReply& logged, const MetricsOptions& options, int width) {
  std::string text;
  const std::size_t count = std::min(logged.curves.size(), kMostDrawn);
  for (std::size_t i = 0; i < count; ++i) {
    const metrics::Curve& curve = logged.curves[i];
    text += fmt::format("{}: attempt {}, rank {}, {} points{}\n", in_one_line(options.metric),
                        curve.series.attempt, curve.series.rank, curve.points,
                        curve.thinned > 0 ? fmt::format(" and {} thinned out", curve.thinned) : "");
    text += drawn(curve, options, width);
  }
  if (logged.curves.size() > count)
    text += fmt::format("and {} more curves; -o json has them\n", logged.curves.size() - count);
  return text;
}

Error nothing_logged(const MetricsReply& logged, const JobId& job, const std::string& metric) {
  if (logged.metrics.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("{} has logged no metrics; a job file says with "
                                  "lockstep.metrics which numbers its ranks print",
                                  job.value));
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(logged.metrics.size(), 10); ++i)
    names += (i == 0 ? "" : ", ") + in_one_line(logged.metrics[i].name);
  return make_error(ErrorCode::not_found, fmt::format("{} has no metric '{}'; it has {}", job.value,
                                                      in_one_line(metric), names));
}

int show(Context& context, const MetricsOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job =
      job_to_read(**connection, context.terminal, "job metrics", options.job, "metrics these are");
  if (!job) return fail(context.terminal, job.error());
  const int width =
      std::min(kWidest, static_cast<int>(context.terminal.columns().value_or(kWidth)));
  GetMetrics question;
  question.job = *job;
  question.name = options.metric;
  question.axis = options.along_time ? metrics::Axis::time : metrics::Axis::step;
  question.buckets = options.points > 0 ? options.points : std::max(2 * width, 1);
  const auto logged = (*connection)->ask_for<MetricsReply>(question);
  if (!logged) return fail(context.terminal, logged.error());
  const bool is_empty = options.metric.empty() ? logged->metrics.empty() && logged->params.empty()
                                               : logged->curves.empty();
  if (is_empty && options.format == Format::table)
    return fail(context.terminal, nothing_logged(*logged, *job, options.metric));
  return print(context, options.format, api::to_json(*logged),
               options.metric.empty() ? table_of(*logged) : curves_of(*logged, options, width));
}

}  // namespace

void add_metrics_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<MetricsOptions>();
  CLI::App* const verb = table.add_below(group, "metrics", "the numbers that a job logged");
  if (verb == nullptr) return;
  auto* name = verb->add_option("-n,--name,NAME", options->job, "the job's name");
  name->check(job_name());
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  auto* metric = verb->add_option("-m,--metric", options->metric,
                                  "the curve of this metric, for each attempt and rank");
  verb->add_flag("--time", options->along_time, "of --metric: along time, not steps")
      ->needs(metric);
  verb->add_flag("--log", options->logarithmic, "of --metric: a logarithmic scale")->needs(metric);
  verb->add_option("--points", options->points,
                   "of --metric: into how many pieces a curve is cut (default: what is drawn)")
      ->needs(metric)
      ->check(whole_number(1, metrics::kMaxBuckets));
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return show(context, *options); };
  });
}

}  // namespace lockstep::cli
