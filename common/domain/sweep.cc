#include "common/domain/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/domain/outputs.h"

namespace lockstep {
namespace {

template <typename... Ts>
struct Visitor : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Visitor(Ts...) -> Visitor<Ts...>;

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

std::string_view word_of_range(bool is_log, bool is_quantized, std::string_view plain,
                               std::string_view log, std::string_view quantized,
                               std::string_view both) {
  if (is_log) return is_quantized ? both : log;
  return is_quantized ? quantized : plain;
}

Status check_q(const std::optional<double>& q) {
  if (!q || (std::isfinite(*q) && *q > 0)) return {};
  return wrong(fmt::format("q: {} is not a step; it must be more than 0", *q));
}

// Whether base^exponent is a number.
Status check_exponent(std::string_view key, double exponent, double log_base) {
  if (std::abs(exponent * std::log(log_base)) <= kMaxExponent) return {};
  return wrong(fmt::format(
      "{}: {} is too large; the bounds of a logarithmic expression are exponents, so that it draws "
      "from base^min_value to base^max_value: for 0.001 to 0.1 write min_value: -6.908, max_value: "
      "-2.303",
      key, exponent));
}

Status check_range(const UniformRange& range, double log_base) {
  if (!std::isfinite(range.min)) return wrong("min_value: is not a finite number");
  if (!std::isfinite(range.max)) return wrong("max_value: is not a finite number");
  if (range.min > range.max)
    return wrong(
        fmt::format("min_value: {} is more than max_value {}; swap them", range.min, range.max));
  if (!std::isfinite(range.max - range.min))
    return wrong("max_value: the range is wider than a number can say");
  TRY(check_q(range.q));
  if (!range.is_log) return {};
  TRY(check_exponent("min_value", range.min, log_base));
  return check_exponent("max_value", range.max, log_base);
}

// Beyond eight and a half sigma nothing is drawn from 53 random bits.
Status check_range(const NormalRange& range, double log_base) {
  constexpr double kFarthest = 8.5;
  if (!std::isfinite(range.mu)) return wrong("mu: is not a finite number");
  if (!std::isfinite(range.sigma) || range.sigma < 0)
    return wrong(fmt::format("sigma: {} is not a deviation; it must be 0 or more", range.sigma));
  TRY(check_q(range.q));
  if (!std::isfinite(std::abs(range.mu) + kFarthest * range.sigma))
    return wrong("sigma: the range is wider than a number can say");
  if (!range.is_log) return {};
  const double far = (std::abs(range.mu) + kFarthest * range.sigma) * std::log(log_base);
  if (std::abs(far) <= kMaxExponent) return {};
  return wrong(
      fmt::format("sigma: {} is too large; mu and sigma of a logarithmic expression are "
                  "those of the exponent",
                  range.sigma));
}

Status check_value(const SweepValue& value) {
  if (value.text.size() > kMaxSweepValueBytes)
    return wrong(fmt::format("values: one has {} bytes; at most {} are possible", value.text.size(),
                             kMaxSweepValueBytes));
  if (value.text.find('\0') != std::string::npos) return wrong("values: one holds a NUL byte");
  return {};
}

// ---- the whole space ---------------------------------------------------------------------------

class SpaceCheck {
 public:
  explicit SpaceCheck(const SamplingAlgorithm& sampling) : sampling_(sampling) {}

  Status check(const SearchSpace& space, const std::string& path, int depth) {
    if (depth > kMaxSearchDepth)
      return wrong(fmt::format("{}: objects are nested more than {} deep", path, kMaxSearchDepth));
    std::set<std::string_view> names;
    for (const SearchParameter& parameter : space) {
      const std::string here = path + "." + parameter.name;
      if (!valid_output_name(parameter.name))
        return wrong(
            fmt::format("{}: {} is not a name; use letters, digits and '_', and do not "
                        "begin with a digit",
                        path, quoted_name(parameter.name)));
      if (!names.insert(parameter.name).second) return wrong(here + ": is named twice");
      if (++parameters_ > kMaxSearchParameters)
        return wrong(
            fmt::format("{}: there are more than {} parameters", path, kMaxSearchParameters));
      TRY(check_one(parameter.expression, here, depth));
    }
    return {};
  }

 private:
  Status check_one(const SearchExpression& expression, const std::string& path, int depth) {
    if (depth == 0 && std::holds_alternative<SweepValue>(expression))
      return wrong(path + ": is a constant; write it into the command or into 'inputs'");
    if (const Status good = check_expression(expression, log_base_of(sampling_)); !good)
      return wrong(path + "." + good.error().message);
    if (const Status good = check_sampling(expression, sampling_); !good)
      return wrong(path + ": " + good.error().message);
    const auto* choice = std::get_if<Choice>(&expression);
    if (choice == nullptr) return {};
    for (const ChoiceOption& option : choice->options) {
      if (++options_ > kMaxChoiceOptions)
        return wrong(
            fmt::format("{}.values: there are more than {} values", path, kMaxChoiceOptions));
      TRY(check(option.object, path + ".values", depth + 1));
    }
    return {};
  }

  const SamplingAlgorithm& sampling_;
  std::size_t parameters_ = 0, options_ = 0;
};

Status check_sampling_itself(const SamplingAlgorithm& sampling) {
  const auto* random = std::get_if<RandomSampling>(&sampling);
  if (random == nullptr) return {};
  const double base = random->log_base;
  if (std::isfinite(base) && base > 0 && base != 1) return {};
  return wrong("sampling_algorithm.logbase: must be a number above 0 other than 1, or e");
}

Status check_objective(const Objective& objective) {
  const std::string& metric = objective.metric;
  if (metric.empty())
    return wrong("objective.primary_metric: is empty; name the metric that the trials log");
  if (metric.size() > kMaxMetricNameBytes)
    return wrong(fmt::format("objective.primary_metric: has {} bytes; at most {} are possible",
                             metric.size(), kMaxMetricNameBytes));
  const bool is_shown = std::none_of(metric.begin(), metric.end(),
                                     [](unsigned char c) { return std::iscntrl(c) != 0; });
  if (is_shown) return {};
  return wrong("objective.primary_metric: holds a character that cannot be printed");
}

Status check_limits(const SweepLimits& limits) {
  if (limits.max_total_trials < 1 || limits.max_total_trials > kMaxSweepTrials)
    return wrong(fmt::format("limits.max_total_trials: is {}; must be 1 to {}",
                             limits.max_total_trials, kMaxSweepTrials));
  if (limits.max_concurrent_trials < 0 || limits.max_concurrent_trials > kMaxSweepTrials)
    return wrong(fmt::format("limits.max_concurrent_trials: is {}; must be 1 to {}",
                             limits.max_concurrent_trials, kMaxSweepTrials));
  if (limits.timeout <= Duration::zero())
    return wrong("limits.timeout: must be more than 0 seconds");
  return {};
}

Status check_termination(const EarlyTermination& early) {
  if (early.interval < 1) return wrong("early_termination.evaluation_interval: must be at least 1");
  if (early.delay < 0) return wrong("early_termination.delay_evaluation: must not be negative");
  if (const Status good = check_policy(early.policy); !good)
    return wrong("early_termination." + good.error().message);
  return {};
}

}  // namespace

bool operator==(const ChoiceOption& a, const ChoiceOption& b) {
  return a.value == b.value && a.object == b.object;
}

std::string_view type_word(const SearchExpression& expression) {
  return std::visit(Visitor{[](const Choice&) -> std::string_view { return "choice"; },
                            [](const RandomInteger&) -> std::string_view { return "randint"; },
                            [](const UniformRange& range) {
                              return word_of_range(range.is_log, range.q.has_value(), "uniform",
                                                   "loguniform", "quniform", "qloguniform");
                            },
                            [](const NormalRange& range) {
                              return word_of_range(range.is_log, range.q.has_value(), "normal",
                                                   "lognormal", "qnormal", "qlognormal");
                            },
                            [](const SweepValue&) -> std::string_view { return "constant"; }},
                    expression);
}

const SearchParameter* find_parameter(const SearchSpace& space, std::string_view name) {
  const auto found = std::find_if(space.begin(), space.end(),
                                  [&](const SearchParameter& one) { return one.name == name; });
  return found == space.end() ? nullptr : &*found;
}

std::string_view type_word(const SamplingAlgorithm& sampling) {
  return std::visit(Visitor{[](const RandomSampling&) -> std::string_view { return "random"; },
                            [](const GridSampling&) -> std::string_view { return "grid"; },
                            [](const BayesianSampling&) -> std::string_view { return "bayesian"; }},
                    sampling);
}

double log_base_of(const SamplingAlgorithm& sampling) {
  const auto* random = std::get_if<RandomSampling>(&sampling);
  return random == nullptr ? RandomSampling{}.log_base : random->log_base;
}

std::string_view to_string(Goal goal) {
  switch (goal) {
    case Goal::minimize: return "minimize";
    case Goal::maximize: return "maximize";
  }
  return "minimize";
}

std::string_view type_word(const TerminationPolicy& policy) {
  return std::visit(
      Visitor{[](const BanditPolicy&) -> std::string_view { return "bandit"; },
              [](const MedianStoppingPolicy&) -> std::string_view { return "median_stopping"; },
              [](const TruncationPolicy&) -> std::string_view { return "truncation_selection"; }},
      policy);
}

Status check_expression(const SearchExpression& expression, double log_base) {
  return std::visit(
      Visitor{[](const Choice& choice) -> Status {
                if (choice.options.empty())
                  return wrong("values: is empty; write the values to choose from");
                for (const ChoiceOption& option : choice.options) TRY(check_value(option.value));
                return {};
              },
              [](const RandomInteger& random) -> Status {
                if (random.upper >= 1 && random.upper <= kMaxRandomInteger) return {};
                return wrong(fmt::format(
                    "upper: is {}; randint draws from 0 to upper - 1, so it must be 1 to {}",
                    random.upper, kMaxRandomInteger));
              },
              [&](const UniformRange& range) { return check_range(range, log_base); },
              [&](const NormalRange& range) { return check_range(range, log_base); },
              [](const SweepValue& value) { return check_value(value); }},
      expression);
}

Status check_sampling(const SearchExpression& expression, const SamplingAlgorithm& sampling) {
  const bool is_constant = std::holds_alternative<SweepValue>(expression);
  const auto* choice = std::get_if<Choice>(&expression);
  if (std::holds_alternative<GridSampling>(sampling) && choice == nullptr && !is_constant)
    return wrong(
        fmt::format("grid takes only choice, not {}; write the values of the grid: {{type: "
                    "choice, values: [0.1, 0.2]}}, or sampling_algorithm: random",
                    type_word(expression)));
  if (!std::holds_alternative<BayesianSampling>(sampling)) return {};
  const auto* uniform = std::get_if<UniformRange>(&expression);
  const bool is_taken = choice != nullptr || (uniform != nullptr && !uniform->is_log);
  if (!is_taken)
    return wrong(
        fmt::format("bayesian takes only choice, uniform and quniform, not {}; write "
                    "sampling_algorithm: random for it",
                    type_word(expression)));
  if (choice == nullptr) return {};
  const bool is_plain =
      std::all_of(choice->options.begin(), choice->options.end(),
                  [](const ChoiceOption& option) { return option.object.empty(); });
  if (is_plain) return {};
  return wrong(
      "bayesian takes only plain values of a choice, no mappings; write "
      "sampling_algorithm: random for it");
}

Status check_policy(const TerminationPolicy& policy) {
  if (const auto* bandit = std::get_if<BanditPolicy>(&policy)) {
    if (std::isfinite(bandit->slack) && bandit->slack >= 0) return {};
    return wrong(
        fmt::format("{}: is {}; must be 0 or more",
                    bandit->kind == BanditPolicy::Slack::factor ? "slack_factor" : "slack_amount",
                    bandit->slack));
  }
  const auto* truncation = std::get_if<TruncationPolicy>(&policy);
  if (truncation == nullptr || (truncation->percentage >= 1 && truncation->percentage <= 99))
    return {};
  return wrong(
      fmt::format("truncation_percentage: is {}; must be 1 to 99", truncation->percentage));
}

Status validate(const SweepSpec& sweep) {
  if (sweep.space.empty())
    return wrong("search_space: is empty; name at least one parameter and its values");
  TRY(check_sampling_itself(sweep.sampling));
  TRY(SpaceCheck(sweep.sampling).check(sweep.space, "search_space", 0));
  TRY(check_objective(sweep.objective));
  TRY(check_limits(sweep.limits));
  if (sweep.early_termination) TRY(check_termination(*sweep.early_termination));
  return {};
}

SharedSweep::SharedSweep(SweepSpec sweep)
    : sweep_(std::make_shared<const SweepSpec>(std::move(sweep))) {}

bool operator==(const SharedSweep& a, const SharedSweep& b) {
  return a.sweep_ == b.sweep_ || (a.sweep_ && b.sweep_ && *a.sweep_ == *b.sweep_);
}

}  // namespace lockstep
