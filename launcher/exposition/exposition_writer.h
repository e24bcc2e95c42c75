#pragma once
// Writes metrics in one of the formats. What would make a text that Prometheus refuses as a whole
// is left out and counted: a label set that is there already, a counter that is no count, and
// series beyond the limits. Pure.

#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/exposition/exposition_text.h"
#include "launcher/exposition/metric_histogram.h"

namespace lockstep::launcher {

enum class MetricType { gauge, counter, histogram, info };
std::string_view to_string(MetricType type);

struct MetricFamily {
  // Without "_total" of a counter and "_info"; ends with "_" and the unit, if there is one.
  std::string_view name;
  MetricType type = MetricType::gauge;
  std::string_view unit;  // "seconds", "bytes", …; "": it is a number of things
  std::vector<std::string_view> labels;
  std::string_view help;  // a sentence without a full stop
};
// "lockstep_jobs_submitted_total": the name by which people ask for it.
std::string asked_name(const MetricFamily& family);
// "" if the formats and `promtool check metrics` have nothing against the family; else what.
std::string wrong_with(const MetricFamily& family);

struct ExpositionLimits {
  std::size_t series_of_a_family = 20'000;
  std::size_t series = 200'000;
  std::size_t bytes = 64u << 20;
};

class ExpositionWriter {
 public:
  explicit ExpositionWriter(ExpositionFormat format, ExpositionLimits limits = {});

  // Each family once; its series follow.
  void begin(const MetricFamily& family);
  // Of few series, which are written although the limits are reached.
  void begin_unlimited(const MetricFamily& family);
  // `labels` are the values of the family's labels, in their order.
  using LabelValues = std::span<const std::string_view>;
  void add(LabelValues labels, const MetricValue& value);
  void add(LabelValues labels, const MetricHistogram& histogram);
  template <typename Value>
  void add(std::initializer_list<std::string_view> labels, const Value& value) {
    add(LabelValues(labels.begin(), labels.size()), value);
  }

  // How many series of each family were left out until now; those without any are not there.
  const std::map<std::string, std::size_t>& left_out() const { return left_out_; }
  // The whole text. Nothing can be added behind it.
  std::string finish();

 private:
  std::string labels_text(LabelValues labels) const;
  // False: the series is left out.
  bool take(const std::string& labels, std::size_t series);
  void write(std::string_view suffix, std::string_view labels, std::string_view value);
  void write_bucket(std::string_view labels, std::string_view bound, std::uint64_t count);

  const ExpositionFormat format_;
  const ExpositionLimits limits_;
  const MetricFamily* family_ = nullptr;
  bool is_limited_ = true;
  std::set<std::string> families_;
  std::set<std::string> seen_;  // label sets of the family
  std::size_t series_of_family_ = 0, series_ = 0;
  std::map<std::string, std::size_t> left_out_;
  std::string text_;
};

}  // namespace lockstep::launcher
