#include "common/domain/sweep_value.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace lockstep {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

}  // namespace

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

SweepValue number_value(double value) { return {SweepValue::Kind::number, number_text(value)}; }

SweepValue integer_value(std::int64_t value) {
  return {SweepValue::Kind::integer, std::to_string(value)};
}

double quantized(double value, double q) {
  const double exact = std::nearbyint(value / q) * q;
  if (!std::isfinite(exact)) return value;
  const double short_one = std::strtod(fmt::format("{:.15g}", exact).c_str(), nullptr);
  return short_one == 0 ? 0 : short_one;  // never -0
}

SweepValue quantized_value(double value, double q) {
  const double result = quantized(value, q);
  const bool is_whole = std::floor(q) == q && std::floor(result) == result;
  if (is_whole && std::abs(result) <= kMaxExactInteger)
    return integer_value(static_cast<std::int64_t>(result));
  return number_value(result);
}

}  // namespace lockstep
