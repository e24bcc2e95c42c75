#include "launcher/cli/text/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/printable.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

using metrics::short_number;

constexpr std::size_t kMostDrawn = 20;
constexpr int kTrendWidth = kTrendBuckets / 2;  // a cell is two dots wide

std::string drawn_trend(const std::vector<double>& values) {
  std::vector<metrics::Dot> dots;
  for (const double value : values) dots.push_back({static_cast<double>(dots.size()), value});
  return metrics::braille_curve(dots, kTrendWidth, 1).front();
}

std::string drawn(const metrics::Curve& curve, const CurveLook& look) {
  if (curve.buckets.empty()) return "";
  std::vector<metrics::Dot> dots;
  for (const metrics::Bucket& bucket : curve.buckets) {
    const auto place = static_cast<double>(bucket.last_at);
    // A spike within a bucket is seen as well as where it ends.
    for (const double value : {bucket.min, bucket.max, bucket.last}) dots.push_back({place, value});
  }
  const auto end_text = [&](std::int64_t place) {
    return look.along_time ? to_string(Instant{place}) : fmt::format("step {}", place);
  };
  std::string text;
  for (const std::string& line :
       metrics::framed_curve(dots, look.width, look.height, end_text(curve.buckets.front().first),
                             end_text(curve.buckets.back().last_at), look.scale))
    text += line + "\n";
  return text;
}

// A spreadsheet takes a cell with one of the first characters for a formula.
std::string cell_of(const std::string& text) {
  std::string cell = in_one_line(text);
  if (!cell.empty() && std::string_view("=+-@").find(cell[0]) != std::string_view::npos)
    cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}
std::string real_or_empty(const std::optional<double>& value) { return value ? real(*value) : ""; }

}  // namespace

std::vector<double> trend_of(const std::vector<metrics::Curve>& curves) {
  const auto newest =
      std::max_element(curves.begin(), curves.end(), [](const auto& a, const auto& b) {
        if (a.series.incarnation != b.series.incarnation)
          return a.series.incarnation < b.series.incarnation;
        if (a.series.attempt != b.series.attempt) return a.series.attempt < b.series.attempt;
        return a.series.rank > b.series.rank;
      });
  std::vector<double> values;
  if (newest == curves.end()) return values;
  for (const metrics::Bucket& bucket : newest->buckets) values.push_back(bucket.last);
  return values;
}

std::string metrics_table(const std::vector<metrics::MetricSummary>& metrics,
                          const Trends& trends) {
  if (metrics.empty()) return "";
  std::vector<std::string> header{"METRIC",  "LAST",     "STEP",   "LEAST",
                                  "AT STEP", "GREATEST", "AT STEP"};
  if (!trends.empty()) header.emplace_back("TREND");
  Table table(header);
  for (const metrics::MetricSummary& metric : metrics) {
    const bool has_range = metric.least.has_value();
    std::vector<std::string> row{in_one_line(metric.name),
                                 short_number(metric.last.value),
                                 std::to_string(metric.last.step),
                                 has_range ? short_number(*metric.least) : "",
                                 has_range ? std::to_string(metric.least_step) : "",
                                 has_range ? short_number(*metric.greatest) : "",
                                 has_range ? std::to_string(metric.greatest_step) : ""};
    if (!trends.empty()) {
      const auto trend = trends.find(metric.name);
      row.push_back(trend == trends.end() ? "" : drawn_trend(trend->second));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string params_text(const std::map<std::string, std::string>& params) {
  std::string text;
  for (const auto& [name, value] : params)
    text += fmt::format("{} = {}\n", in_one_line(name), in_one_line(value));
  return text;
}

std::string curves_text(const std::string& metric, const std::vector<metrics::Curve>& curves,
                        const CurveLook& look) {
  std::string text;
  const std::size_t count = std::min(curves.size(), kMostDrawn);
  for (std::size_t i = 0; i < count; ++i) {
    const metrics::Curve& curve = curves[i];
    text += fmt::format("{}: attempt {}, rank {}, {} points{}\n", in_one_line(metric),
                        curve.series.attempt, curve.series.rank, curve.points,
                        curve.thinned > 0 ? fmt::format(" and {} thinned out", curve.thinned) : "");
    text += drawn(curve, look);
  }
  if (curves.size() > count)
    text += fmt::format("and {} more curves; -o json has them\n", curves.size() - count);
  return text;
}

std::string metrics_csv(const MetricsReply& logged, bool has_curves) {
  std::string text;
  if (!has_curves) {
    text = "name,attempt,last,last_step,last_at,least,least_step,greatest,greatest_step\n";
    for (const metrics::MetricSummary& metric : logged.metrics)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", cell_of(metric.name), metric.attempt,
                          real(metric.last.value), metric.last.step, to_string(metric.last.time),
                          real_or_empty(metric.least), metric.least_step,
                          real_or_empty(metric.greatest), metric.greatest_step);
    return text;
  }
  text = "attempt,rank,first,last_at,points,nans,least,greatest,last\n";
  for (const metrics::Curve& curve : logged.curves)
    for (const metrics::Bucket& bucket : curve.buckets)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", curve.series.attempt, curve.series.rank,
                          bucket.first, bucket.last_at, bucket.points, bucket.nans,
                          real(bucket.min), real(bucket.max), real(bucket.last));
  return text;
}

}  // namespace lockstep::cli
