#include "launcher/exposition/exposition_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace lockstep::launcher {
namespace {

// Units that we use. Prometheus' lint takes others, too, and none with a prefix.
constexpr std::array<std::string_view, 3> kUnits{"seconds", "bytes", "ratio"};
// Parts of names that its lint refuses: other units, short ones, types, and ends of other series.
constexpr std::array<std::string_view, 28> kRefusedWords{
    "s",       "ms",      "us",        "ns",      "sec",   "b",       "kb",
    "mb",      "gb",      "tb",        "pb",      "m",     "h",       "d",
    "minutes", "hours",   "days",      "weeks",   "bits",  "percent", "counter",
    "gauge",   "summary", "histogram", "untyped", "count", "sum",     "bucket"};

std::vector<std::string_view> words_of_name(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const auto end = std::min(name.find('_'), name.size());
    words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

bool is_in(const auto& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::gauge: return "gauge";
    case MetricType::counter: return "counter";
    case MetricType::histogram: return "histogram";
    case MetricType::info: return "info";
  }
  return "?";
}

std::string asked_name(const MetricFamily& family) {
  switch (family.type) {
    case MetricType::gauge:
    case MetricType::histogram: break;
    case MetricType::counter: return std::string(family.name) + "_total";
    case MetricType::info: return std::string(family.name) + "_info";
  }
  return std::string(family.name);
}

std::string wrong_with(const MetricFamily& family) {
  if (!is_metric_name(family.name)) return "the name has other characters";
  if (family.name.starts_with('_')) return "names with '_' before them are the formats'";
  const bool has_capital = std::any_of(family.name.begin(), family.name.end(),
                                       [](char c) { return c >= 'A' && c <= 'Z'; });
  if (has_capital) return "the name has a capital letter";
  for (const std::string_view word : words_of_name(family.name))
    if (is_in(kRefusedWords, word)) return fmt::format("the name has the word '{}'", word);
  for (const std::string_view end : {"_total", "_info", "_created"})
    if (family.name.ends_with(end)) return fmt::format("'{}' is the writer's", end);
  if (!family.unit.empty() && !is_in(kUnits, family.unit)) return "the unit is none of ours";
  if (!family.unit.empty() && !family.name.ends_with("_" + std::string(family.unit)))
    return "the name does not end with the unit";
  if (family.unit.empty() && is_in(kUnits, words_of_name(family.name).back()))
    return "the name ends with a unit, and there is none";
  if (family.type == MetricType::info && !family.unit.empty()) return "an info has no unit";
  if (family.help.empty()) return "there is no help";
  if (family.help.find('\n') != std::string_view::npos) return "the help has two lines";
  for (std::size_t i = 0; i < family.labels.size(); ++i) {
    if (!is_label_name(family.labels[i]))
      return fmt::format("'{}' cannot be a label", family.labels[i]);
    if (std::count(family.labels.begin(), family.labels.end(), family.labels[i]) > 1)
      return fmt::format("the label '{}' is there twice", family.labels[i]);
  }
  return "";
}

ExpositionWriter::ExpositionWriter(ExpositionFormat format, ExpositionLimits limits)
    : format_(format), limits_(limits) {}

void ExpositionWriter::begin(const MetricFamily& family) {
  CHECK(families_.emplace(family.name).second, "each family comes once");
  family_ = &family;
  is_limited_ = true;
  seen_.clear();
  series_of_family_ = 0;
  const std::string help = help_text(family.help, format_);
  if (format_ == ExpositionFormat::open_metrics) {
    text_ += fmt::format("# TYPE {} {}\n", family.name, to_string(family.type));
    if (!family.unit.empty()) text_ += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    text_ += fmt::format("# HELP {} {}\n", family.name, help);
    return;
  }
  const std::string name = asked_name(family);
  const bool is_info = family.type == MetricType::info;  // which 0.0.4 does not know
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                       to_string(is_info ? MetricType::gauge : family.type));
}

void ExpositionWriter::begin_unlimited(const MetricFamily& family) {
  begin(family);
  is_limited_ = false;
}

std::string ExpositionWriter::labels_text(LabelValues labels) const {
  CHECK(family_ != nullptr && labels.size() == family_->labels.size(),
        "a series has a value for each label of its family");
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) text += ',';
    text.append(family_->labels[i]).append("=\"");
    text += label_text(labels[i], kMostLabelBytes);
    text += '"';
  }
  return text;
}

bool ExpositionWriter::take(const std::string& labels, std::size_t series) {
  const bool has_room = series_of_family_ + series <= limits_.series_of_a_family &&
                        series_ + series <= limits_.series && text_.size() < limits_.bytes;
  if ((is_limited_ && !has_room) || !seen_.insert(labels).second) {
    ++left_out_[std::string(family_->name)];
    return false;
  }
  series_of_family_ += series;
  series_ += series;
  return true;
}

void ExpositionWriter::write(std::string_view suffix, std::string_view labels,
                             std::string_view value) {
  text_.append(family_->name).append(suffix);
  if (!labels.empty()) text_.append("{").append(labels).append("}");
  text_.append(" ").append(value).append("\n");
}

void ExpositionWriter::write_bucket(std::string_view labels, std::string_view bound,
                                    std::uint64_t count) {
  std::string with_bound(labels);
  with_bound.append(labels.empty() ? "le=\"" : ",le=\"").append(bound).append("\"");
  write("_bucket", with_bound, std::to_string(count));
}

void ExpositionWriter::add(LabelValues values, const MetricValue& value) {
  const std::string labels = labels_text(values);
  CHECK(family_->type != MetricType::histogram, "a histogram has more than one value");
  const bool is_counter = family_->type == MetricType::counter;
  if (is_counter && !is_count(value)) {
    ++left_out_[std::string(family_->name)];
    return;
  }
  if (!take(labels, 1)) return;
  const bool is_info = family_->type == MetricType::info;
  write(is_counter ? "_total" : is_info ? "_info" : "", labels, is_info ? "1" : number_text(value));
}

void ExpositionWriter::add(LabelValues values, const MetricHistogram& histogram) {
  const std::string labels = labels_text(values);
  CHECK(family_->type == MetricType::histogram, "only a histogram has buckets");
  if (!take(labels, histogram.counts().size() + 2)) return;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    count += histogram.counts()[i];
    write_bucket(labels, bound_text(histogram.bounds()[i], format_), count);
  }
  write_bucket(labels, "+Inf", histogram.count());
  write("_sum", labels, number_text(histogram.sum()));
  write("_count", labels, std::to_string(histogram.count()));
}

std::string ExpositionWriter::finish() {
  if (format_ == ExpositionFormat::open_metrics) text_ += "# EOF\n";
  family_ = nullptr;
  return std::move(text_);
}

}  // namespace lockstep::launcher
