#include "launcher/sweeps/draw.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "launcher/sweeps/json_text.h"
#include "launcher/sweeps/normal_quantile.h"

namespace lockstep::sweeps {
namespace {

std::size_t dimensions_of_expression(const SearchExpression& expression) {
  if (std::holds_alternative<SweepValue>(expression)) return 0;
  std::size_t dimensions = 1;
  if (const auto* choice = std::get_if<Choice>(&expression))
    for (const ChoiceOption& option : choice->options) dimensions += dimensions_of(option.object);
  return dimensions;
}

// 0 to count - 1.
std::size_t index_at(double coordinate, std::size_t count) {
  const auto index = static_cast<std::size_t>(coordinate * static_cast<double>(count));
  return std::min(index, count - 1);
}

SweepValue written(double value, const std::optional<double>& q) {
  return q ? quantized_value(value, *q) : number_value(value);
}

class Drawing {
 public:
  Drawing(double log_base, const Coordinate& coordinate)
      : log_of_base_(std::log(log_base)), coordinate_(coordinate) {}

  TrialParameters of_space(const SearchSpace& space) {
    TrialParameters parameters;
    parameters.reserve(space.size());
    for (const SearchParameter& parameter : space)
      parameters.push_back({parameter.name, of_expression(parameter.expression)});
    return parameters;
  }

 private:
  SweepValue of_expression(const SearchExpression& expression) {
    if (const auto* constant = std::get_if<SweepValue>(&expression)) return *constant;
    const double coordinate = coordinate_(next_++);
    if (const auto* choice = std::get_if<Choice>(&expression)) return of(*choice, coordinate);
    if (const auto* random = std::get_if<RandomInteger>(&expression))
      return of(*random, coordinate);
    if (const auto* uniform = std::get_if<UniformRange>(&expression))
      return of(*uniform, coordinate);
    return of(std::get<NormalRange>(expression), coordinate);
  }

  SweepValue of(const Choice& choice, double coordinate) {
    const std::size_t chosen = index_at(coordinate, choice.options.size());
    SweepValue value;
    for (std::size_t i = 0; i < choice.options.size(); ++i) {
      const ChoiceOption& option = choice.options[i];
      if (i != chosen)
        next_ += dimensions_of(option.object);
      else if (option.object.empty())
        value = option.value;
      else
        value = {SweepValue::Kind::object, json_of(of_space(option.object))};
    }
    return value;
  }

  static SweepValue of(const RandomInteger& random, double coordinate) {
    const auto drawn = static_cast<std::int64_t>(coordinate * static_cast<double>(random.upper));
    return integer_value(std::min(drawn, random.upper - 1));
  }

  SweepValue of(const UniformRange& range, double coordinate) const {
    const double drawn = std::min(range.min + coordinate * (range.max - range.min), range.max);
    return written(range.is_log ? power(drawn) : drawn, range.q);
  }

  SweepValue of(const NormalRange& range, double coordinate) const {
    const double drawn = range.mu + range.sigma * normal_quantile(coordinate);
    return written(range.is_log ? power(drawn) : drawn, range.q);
  }

  double power(double exponent) const { return std::exp(exponent * log_of_base_); }

  const double log_of_base_;
  const Coordinate& coordinate_;
  std::size_t next_ = 0;
};

}  // namespace

std::size_t dimensions_of(const SearchSpace& space) {
  std::size_t dimensions = 0;
  for (const SearchParameter& parameter : space)
    dimensions += dimensions_of_expression(parameter.expression);
  return dimensions;
}

TrialParameters draw(const SearchSpace& space, double log_base, const Coordinate& coordinate) {
  return Drawing(log_base, coordinate).of_space(space);
}

}  // namespace lockstep::sweeps
