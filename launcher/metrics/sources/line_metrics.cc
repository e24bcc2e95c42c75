#include "launcher/metrics/sources/line_metrics.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace lockstep::metrics {

namespace {

constexpr std::int64_t kMaxPatternMemory = 1 << 20;

// What stands behind a number in sentences and tables.
constexpr std::string_view kBehindNumbers = ",;:)]}%";

Error bad_pattern(const std::string& name, const std::string& why) {
  return make_error(ErrorCode::invalid_argument, fmt::format("metrics.{}: {}", name, why));
}

Result<LinePatterns::Pattern> compile_one(const std::string& name, const std::string& text) {
  if (name.empty() || name.size() > kMaxMetricNameBytes)
    return bad_pattern(name.substr(0, 20),
                       fmt::format("the name of a metric has 1 to {} bytes", kMaxMetricNameBytes));
  if (text.size() > kMaxLinePatternBytes)
    return bad_pattern(name, fmt::format("the pattern has {} bytes, and {} are possible",
                                         text.size(), kMaxLinePatternBytes));
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (!compiled->ok())
    return bad_pattern(
        name, fmt::format("'{}' is not a valid regular expression: {} (the syntax is RE2's: "
                          "https://github.com/google/re2/wiki/Syntax)",
                          text, compiled->error()));
  LinePatterns::Pattern pattern{name, compiled};
  const auto& groups = compiled->NamedCapturingGroups();
  if (const auto value = groups.find("value"); value != groups.end())
    pattern.value_group = value->second;
  else if (compiled->NumberOfCapturingGroups() != 1 || !groups.empty())
    return bad_pattern(name, fmt::format("'{}' does not say which part is the number; write "
                                         "(?P<value>…) around it, as in loss=(?P<value>\\S+)",
                                         text));
  if (const auto step = groups.find("step"); step != groups.end())
    pattern.step_group = step->second;
  return pattern;
}

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "3 7": how often each pattern has matched.
std::vector<std::int64_t> counts_of(std::string_view state, std::size_t patterns) {
  std::vector<std::int64_t> counts;
  while (!state.empty() && counts.size() <= patterns) {
    const auto end = std::min(state.find(' '), state.size());
    const auto count = parsed<std::int64_t>(state.substr(0, end));
    if (!count || *count < 0) break;
    counts.push_back(*count);
    state.remove_prefix(std::min(end + 1, state.size()));
  }
  if (counts.size() != patterns || !state.empty()) counts.assign(patterns, 0);
  return counts;
}

}  // namespace

Result<LinePatterns> LinePatterns::compile(const std::map<std::string, std::string>& patterns) {
  if (patterns.size() > kMaxLinePatterns)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("metrics: has {} patterns, and {} are possible", patterns.size(),
                                  kMaxLinePatterns));
  LinePatterns all;
  for (const auto& [name, text] : patterns) {
    TRY_ASSIGN(auto pattern, compile_one(name, text));
    all.patterns_.push_back(std::move(pattern));
  }
  return all;
}

std::optional<double> printed_number(std::string_view text) {
  if (const auto number = parsed<double>(text)) return number;
  if (text.empty() || kBehindNumbers.find(text.back()) == kBehindNumbers.npos) return std::nullopt;
  const auto last = text.find_last_not_of(kBehindNumbers);
  return parsed<double>(text.substr(0, last + 1));  // npos + 1 is 0
}

LineMetrics::LineMetrics(LinePatterns patterns, std::string_view state)
    : patterns_(std::move(patterns)), matched_(counts_of(state, patterns_.all().size())) {}

void LineMetrics::take(std::string_view bytes, Instant at, std::vector<NamedPoint>* points) {
  while (!bytes.empty()) {
    const auto end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    line_ += part.substr(0, kMaxMatchedLineBytes - line_.size());
    line_bytes_ += part.size();
    if (end == bytes.npos) return;
    match(line_, at, points);
    offset_ += line_bytes_ + 1;
    line_.clear();
    line_bytes_ = 0;
    bytes.remove_prefix(end + 1);
  }
}

void LineMetrics::end(Instant at, std::vector<NamedPoint>* points) {
  if (line_bytes_ == 0) return;
  match(line_, at, points);
  offset_ += line_bytes_;
  line_.clear();
  line_bytes_ = 0;
}

void LineMetrics::match(std::string_view line, Instant at, std::vector<NamedPoint>* points) {
  if (line.empty()) return;
  const re2::StringPiece text(line.data(), line.size());
  for (std::size_t i = 0; i < matched_.size(); ++i) {
    const LinePatterns::Pattern& pattern = patterns_.all()[i];
    const int groups = std::max(pattern.value_group, pattern.step_group) + 1;
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups));
    if (!pattern.expression->Match(text, 0, text.size(), re2::RE2::UNANCHORED, found.data(),
                                   groups))
      continue;
    const auto part = [&found](int group) {
      const re2::StringPiece& piece = found[static_cast<std::size_t>(group)];
      return std::string_view(piece.data(), piece.size());
    };
    const auto value = printed_number(part(pattern.value_group));
    if (!value) {
      ++unread_;
      continue;
    }
    const auto step =
        pattern.step_group == 0 ? std::nullopt : parsed<std::int64_t>(part(pattern.step_group));
    points->push_back({pattern.name, {step.value_or(matched_[i]), at, *value}});
    ++matched_[i];
  }
}

std::string LineMetrics::state() const { return fmt::format("{}", fmt::join(matched_, " ")); }

}  // namespace lockstep::metrics
