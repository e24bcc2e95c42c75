#include "launcher/exposition/exposition_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/base/digest.h"
#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::launcher {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::size_t kMarkDigits = 8;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string escaped(std::string_view text, bool with_quotes) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '\\' || (c == '"' && with_quotes)) result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

// With U+FFFD for bytes and characters that are not shown; newlines stay.
std::string shown_value(std::string_view value) {
  std::string result;
  while (!value.empty()) {
    const Utf8Character character = first_character(value);
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    const bool is_shown =
        character.length > 0 && (character.code == U'\n' || !is_hidden(character.code));
    result += is_shown ? value.substr(0, length) : kReplacement;
    value.remove_prefix(length);
  }
  return result;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string number_text(const MetricValue& value) {
  return std::visit(
      [](auto number) -> std::string {
        if constexpr (std::is_same_v<decltype(number), double>)
          return number_text(number);
        else
          return std::to_string(number);
      },
      value);
}

bool is_count(const MetricValue& value) {
  return std::visit(
      [](auto number) {
        if constexpr (std::is_unsigned_v<decltype(number)>)
          return true;
        else
          return number >= 0;  // not NaN
      },
      value);
}

std::string bound_text(double bound, ExpositionFormat format) {
  std::string text = number_text(bound);
  const bool is_whole = text.find_first_of(".eIN") == std::string::npos;
  if (format == ExpositionFormat::open_metrics && is_whole) text += ".0";
  return text;
}

std::string label_text(std::string_view value, std::size_t most_bytes) {
  if (value.size() <= most_bytes && is_plain(value)) return escaped(value, true);
  std::string shown = shown_value(value);
  if (shown == value && value.size() <= most_bytes) return escaped(value, true);
  const std::size_t room = std::max(most_bytes, kMarkDigits + 1) - kMarkDigits - 1;
  shown = std::string(head(shown, room)) + "~" + sha256(value).hex().substr(0, kMarkDigits);
  return escaped(shown, true);
}

std::string help_text(std::string_view help, ExpositionFormat format) {
  return escaped(help, format == ExpositionFormat::open_metrics);
}

bool is_metric_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_label_name(std::string_view name) {
  return is_metric_name(name) && !name.starts_with('_') && name != "le" && name != "quantile";
}

}  // namespace lockstep::launcher
