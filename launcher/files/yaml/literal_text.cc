#include "launcher/files/yaml/literal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

namespace lockstep::spec {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::string without_underscores(std::string_view text) {
  std::string kept(text);
  std::erase(kept, '_');
  return kept;
}

std::optional<std::string> boolean(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kTrue{"yes",  "Yes", "YES", "true", "True",
                                                         "TRUE", "on",  "On",  "ON"};
  static constexpr std::array<std::string_view, 9> kFalse{"no",    "No",  "NO",  "false", "False",
                                                          "FALSE", "off", "Off", "OFF"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return "True";
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return "False";
  return std::nullopt;
}

// The parts of a number in base 60, "12:30"; the last part may have a fraction or not.
std::optional<std::vector<std::string>> sixtieths(std::string_view text, bool with_fraction) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    std::string_view part = text.substr(at, end - at);
    at = end + 1;
    const bool is_last = at > text.size();
    const std::size_t dot = part.find('.');
    if (is_last && (dot != std::string_view::npos) != with_fraction) return std::nullopt;
    const std::string_view whole = is_last ? part.substr(0, dot) : part;
    const bool is_first = parts.empty();
    const bool is_good =
        is_first ? is_digit(part.empty() ? ' ' : part[0]) && all_of(whole, "0123456789_")
                 : all_of(whole, "0123456789") && whole.size() <= 2 &&
                       (whole.size() == 1 || whole[0] < '6');
    const bool has_fraction = is_last && with_fraction;
    if (!is_good ||
        (has_fraction && dot + 1 < part.size() && !all_of(part.substr(dot + 1), "0123456789_")))
      return std::nullopt;
    parts.push_back(without_underscores(part));
  }
  if (parts.size() < 2) return std::nullopt;
  return parts;
}

// The digits of a whole number without its sign; nullopt: the text has another form, or more than
// 64 bits in a base other than ten.
std::optional<std::string> magnitude(std::string_view text) {
  const auto in_base = [](std::string_view digits, int base) -> std::optional<std::string> {
    const std::string kept = without_underscores(digits);
    std::uint64_t value = 0;
    const auto [end, failure] =
        std::from_chars(kept.data(), kept.data() + kept.size(), value, base);
    if (failure != std::errc() || end != kept.data() + kept.size()) return std::nullopt;
    return std::to_string(value);
  };
  if (text.starts_with("0b") && all_of(text.substr(2), "01_")) return in_base(text.substr(2), 2);
  if (text.starts_with("0x") && all_of(text.substr(2), "0123456789abcdefABCDEF_"))
    return in_base(text.substr(2), 16);
  if (text.starts_with("0") && all_of(text, "01234567_")) return in_base(text, 8);
  if (text.empty() || text[0] == '0' || !is_digit(text[0])) return std::nullopt;
  if (all_of(text, "0123456789_")) return without_underscores(text);
  const auto parts = sixtieths(text, false);
  if (!parts) return std::nullopt;
  std::uint64_t value = 0;
  for (const std::string& part : *parts) {
    std::uint64_t next = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), next);
    if (read.ec != std::errc() || value > std::numeric_limits<std::uint64_t>::max() / 60 - 60)
      return std::nullopt;
    value = value * 60 + next;
  }
  return std::to_string(value);
}

std::optional<std::string> integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  auto digits = magnitude(text);
  if (digits && is_negative && *digits != "0") digits->insert(0, "-");
  return digits;
}

std::string shown(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// "12.5", "1_0." or ".5e-3". A digit must follow a sign, and an exponent needs a sign.
bool is_float(std::string_view text) {
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  if (has_sign) text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || (dot == 0 && has_sign)) return false;
  if (dot > 0 && (!is_digit(text[0]) || !all_of(text.substr(0, dot), "0123456789_"))) return false;
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const std::string_view fraction = text.substr(dot + 1, exponent - dot - 1);
  if (exponent < dot || (dot == 0 && (fraction.empty() || !is_digit(fraction[0])))) return false;
  if (!fraction.empty() && !all_of(fraction, "0123456789_")) return false;
  if (exponent == text.size()) return true;
  const std::string_view power = text.substr(exponent + 1);
  return (power.starts_with('-') || power.starts_with('+')) &&
         all_of(power.substr(1), "0123456789");
}

std::optional<double> to_double(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::string> floating(std::string_view text) {
  if (is_float(text)) {
    const auto value = to_double(without_underscores(text));
    return value ? std::optional(shown(*value)) : std::nullopt;
  }
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const auto parts = sixtieths(text, true);
  if (!parts) return std::nullopt;
  double value = 0, base = 1;
  for (auto part = parts->rbegin(); part != parts->rend(); ++part, base *= 60) {
    const auto digit = to_double(*part);
    if (!digit) return std::nullopt;
    value += *digit * base;
  }
  return shown(is_negative ? -value : value);
}

}  // namespace

std::string literal_text(const YamlNode& scalar) {
  if (!scalar.is_plain) return scalar.text;
  for (const auto& read : {boolean, floating, integer})
    if (auto text = read(scalar.text)) return *std::move(text);
  return scalar.text;
}

std::string python_float(std::string_view text) {
  const std::string whole(text);
  const auto value = to_double(whole);
  return value ? shown(*value) : whole;
}

}  // namespace lockstep::spec
