#include "launcher/sweeps/suggestions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/check.h"
#include "launcher/sweeps/unit_draw.h"

namespace lockstep::sweeps {
namespace {

constexpr double kMostSteps = 1e9;
constexpr std::uint64_t kOfHelper =
    1;  // the dimension of its seeds, which is no place of the space

// Of each place of the space: as the helper knows it, and back.
HelperParameter helper_parameter(const SearchExpression& expression) {
  HelperParameter parameter;
  if (const auto* choice = std::get_if<Choice>(&expression)) {
    parameter.kind = HelperParameter::Kind::choice;
    parameter.count = static_cast<std::int64_t>(choice->options.size());
    return parameter;
  }
  const auto& range = std::get<UniformRange>(expression);
  const auto steps = steps_of(range);
  if (range.q && steps) {
    parameter.kind = HelperParameter::Kind::integer;
    parameter.count = steps->count;
    return parameter;
  }
  parameter.low = range.min;
  parameter.high = range.max;
  return parameter;
}

std::optional<double> helper_value(const SearchExpression& expression, const SweepValue& value) {
  if (const auto* choice = std::get_if<Choice>(&expression)) {
    const auto& options = choice->options;
    const auto found =
        std::find_if(options.begin(), options.end(),
                     [&](const ChoiceOption& option) { return option.value == value; });
    if (found == options.end()) return std::nullopt;
    return static_cast<double>(found - options.begin());
  }
  const auto& range = std::get<UniformRange>(expression);
  char* end = nullptr;
  const double number = std::strtod(value.text.c_str(), &end);
  if (value.text.empty() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  const auto steps = steps_of(range);
  if (!range.q || !steps)
    return number >= range.min && number <= range.max ? std::optional<double>(number)
                                                      : std::nullopt;
  const double step = std::nearbyint(number / *range.q) - static_cast<double>(steps->first);
  if (step < 0 || step >= static_cast<double>(steps->count)) return std::nullopt;
  return step;
}

// One value for each parameter, in their order; nullopt: they are not of this space.
std::optional<std::vector<double>> helper_values(const SearchSpace& space,
                                                 const TrialParameters& parameters) {
  std::vector<double> values;
  for (const SearchParameter& parameter : space) {
    const auto given =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const TrialParameter& one) { return one.name == parameter.name; });
    if (given == parameters.end()) return std::nullopt;
    const auto value = helper_value(parameter.expression, given->value);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<HelperTrial::State> helper_state(const Trial& trial) {
  using State = HelperTrial::State;
  switch (trial.state) {
    case TrialState::active: return State::running;
    case TrialState::stopping:
    case TrialState::stopped: return State::stopped;
    case TrialState::completed: return State::complete;
    case TrialState::failed:
    case TrialState::canceled: return std::nullopt;
  }
  return std::nullopt;
}

Error unasked(std::string what) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("the helper of a bayesian sweep suggested {}", what));
}

Result<SweepValue> suggested_value(const SearchParameter& parameter, double value) {
  const HelperParameter asked = helper_parameter(parameter.expression);
  const auto wrong_value = [&] {
    return unasked(fmt::format("{} for '{}', which is not in its range", value, parameter.name));
  };
  if (!std::isfinite(value)) return wrong_value();
  if (asked.kind == HelperParameter::Kind::number) {
    if (value < asked.low || value > asked.high) return wrong_value();
    const auto& range = std::get<UniformRange>(parameter.expression);
    return range.q ? quantized_value(value, *range.q) : number_value(value);
  }
  if (std::floor(value) != value || value < 0 || value >= static_cast<double>(asked.count))
    return wrong_value();
  const auto step = static_cast<std::int64_t>(value);
  if (const auto* choice = std::get_if<Choice>(&parameter.expression))
    return choice->options[static_cast<std::size_t>(step)].value;
  const auto& range = std::get<UniformRange>(parameter.expression);
  const std::int64_t multiple = steps_of(range)->first + step;
  return quantized_value(static_cast<double>(multiple) * *range.q, *range.q);
}

}  // namespace

std::optional<QuantizedSteps> steps_of(const UniformRange& range) {
  if (!range.q) return std::nullopt;
  const double first = std::nearbyint(range.min / *range.q);
  const double last = std::nearbyint(range.max / *range.q);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const bool is_exact = std::abs(first) < kExact && std::abs(last) < kExact;
  if (!is_exact || last - first >= kMostSteps) return std::nullopt;
  return QuantizedSteps{static_cast<std::int64_t>(first),
                        static_cast<std::int64_t>(last - first) + 1};
}

SuggestionRequest suggestion_request(const SweepSpec& sweep, const SweepProgress& progress,
                                     std::size_t count) {
  const auto* bayesian = std::get_if<BayesianSampling>(&sweep.sampling);
  CHECK(bayesian != nullptr, "only a bayesian sweep asks for suggestions");
  SuggestionRequest request;
  request.optuna = bayesian->optuna;
  request.first_trial = progress.trials.size();
  // Optuna's seeds have 32 bits.
  request.seed = random_bits(progress.seed, request.first_trial, kOfHelper) >> 32;
  request.goal = sweep.objective.goal;
  request.count = count;
  for (const SearchParameter& parameter : sweep.space)
    request.parameters.push_back(helper_parameter(parameter.expression));
  for (const Observation& earlier : progress.earlier)
    if (auto values = helper_values(sweep.space, earlier.parameters);
        values && std::isfinite(earlier.value))
      request.trials.push_back(
          {HelperTrial::State::complete, *std::move(values), earlier.value, 1});
  for (const Trial& trial : progress.trials) {
    const auto state = helper_state(trial);
    const bool has_value = !std::isnan(trial.metric.best);
    if (!state || (*state != HelperTrial::State::running && !has_value)) continue;
    auto values = helper_values(sweep.space, trial.parameters);
    if (!values) continue;
    const double objective = *state == HelperTrial::State::running ? kNoValue : trial.metric.best;
    request.trials.push_back({*state, *std::move(values), objective, trial.metric.count});
  }
  return request;
}

Result<TrialParameters> suggested_parameters(const SweepSpec& sweep,
                                             const std::vector<double>& values) {
  if (values.size() != sweep.space.size())
    return unasked(fmt::format("{} values for {} parameters", values.size(), sweep.space.size()));
  TrialParameters parameters;
  for (std::size_t i = 0; i < values.size(); ++i) {
    TRY_ASSIGN(SweepValue value, suggested_value(sweep.space[i], values[i]));
    parameters.push_back({sweep.space[i].name, std::move(value)});
  }
  return parameters;
}

}  // namespace lockstep::sweeps
