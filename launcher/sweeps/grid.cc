#include "launcher/sweeps/grid.h"

#include <algorithm>

#include "common/base/check.h"
#include "launcher/sweeps/json_text.h"

namespace lockstep::sweeps {
namespace {

std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kManyCombinations / b ? kManyCombinations : std::min(a * b, kManyCombinations);
}

std::uint64_t combinations_of_option(const ChoiceOption& option) {
  return option.object.empty() ? 1 : combinations_of(option.object);
}

std::uint64_t combinations_of_expression(const SearchExpression& expression) {
  const auto* choice = std::get_if<Choice>(&expression);
  CHECK(choice != nullptr || std::holds_alternative<SweepValue>(expression),
        "a grid has only choices");
  if (choice == nullptr) return 1;
  std::uint64_t count = 0;
  for (const ChoiceOption& option : choice->options)
    count = std::min(count + combinations_of_option(option), kManyCombinations);
  return count;
}

SweepValue value_of_combination(const SearchExpression& expression, std::uint64_t index) {
  const auto* choice = std::get_if<Choice>(&expression);
  if (choice == nullptr) return std::get<SweepValue>(expression);
  for (const ChoiceOption& option : choice->options) {
    const std::uint64_t count = combinations_of_option(option);
    if (index >= count) {
      index -= count;
      continue;
    }
    if (option.object.empty()) return option.value;
    return {SweepValue::Kind::object, json_of(combination(option.object, index))};
  }
  check_failed(__FILE__, __LINE__, "index", "the grid has no such combination");
}

}  // namespace

std::uint64_t combinations_of(const SearchSpace& space) {
  std::uint64_t count = 1;
  for (const SearchParameter& parameter : space)
    count = bounded_product(count, combinations_of_expression(parameter.expression));
  return count;
}

TrialParameters combination(const SearchSpace& space, std::uint64_t index) {
  TrialParameters parameters(space.size());
  for (std::size_t i = space.size(); i-- > 0;) {
    const std::uint64_t count = combinations_of_expression(space[i].expression);
    parameters[i] = {space[i].name, value_of_combination(space[i].expression, index % count)};
    index /= count;
  }
  return parameters;
}

}  // namespace lockstep::sweeps
