#include "launcher/exposition/exposition_format.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "common/base/trimmed.h"

namespace lockstep::launcher {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

// Takes what is before the next `separator` off the text.
std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

// RFC 9110, 12.4.2: 0 to 1. What is none counts as 0.
double quality(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_good = error == std::errc() && end == text.data() + text.size();
  return is_good && value > 0 ? std::min(value, 1.0) : 0;
}

struct Range {
  std::string type;
  std::string version;
  double quality = 1;
};

Range read_range(std::string_view text) {
  Range range;
  range.type = in_lower_case(take_until(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = take_until(text, ';');
    const std::string name = in_lower_case(take_until(parameter, '='));
    parameter = trimmed(parameter);
    if (parameter.size() >= 2 && parameter.front() == '"' && parameter.back() == '"')
      parameter = parameter.substr(1, parameter.size() - 2);
    if (name == "q") range.quality = quality(parameter);
    if (name == "version") range.version = parameter;
  }
  return range;
}

bool is_version_of_ours(std::string_view version) {
  return version.empty() || version == "1.0.0" || version == "0.0.1";
}

}  // namespace

std::string_view content_type(ExpositionFormat format) {
  switch (format) {
    case ExpositionFormat::prometheus_text: return "text/plain; version=0.0.4; charset=utf-8";
    case ExpositionFormat::open_metrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  }
  return "text/plain";
}

ExpositionFormat wanted_format(std::string_view accept) {
  accept = accept.substr(0, kMaxAcceptBytes);
  double open_metrics = 0, text = 0;
  while (!accept.empty()) {
    const Range range = read_range(take_until(accept, ','));
    if (range.type == "application/openmetrics-text" && is_version_of_ours(range.version))
      open_metrics = std::max(open_metrics, range.quality);
    if (range.type == "text/plain") text = std::max(text, range.quality);
  }
  return open_metrics > 0 && open_metrics >= text ? ExpositionFormat::open_metrics
                                                  : ExpositionFormat::prometheus_text;
}

}  // namespace lockstep::launcher
