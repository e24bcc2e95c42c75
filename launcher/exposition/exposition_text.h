#pragma once
// Names, numbers, label values and help texts as the formats have them. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "launcher/exposition/exposition_format.h"

namespace lockstep::launcher {

// A whole number is written exactly, also beyond 2^53.
using MetricValue = std::variant<double, std::int64_t, std::uint64_t>;

// "NaN", "+Inf", "-Inf", or the shortest text of the number.
std::string number_text(double value);
std::string number_text(const MetricValue& value);
// Not NaN, and not below 0: what a counter may be.
bool is_count(const MetricValue& value);

// Of a bucket: the same number has the same text everywhere. OpenMetrics writes 1 as "1.0".
std::string bound_text(double bound, ExpositionFormat format);

// The text between the quotes of a label: with \\, \" and \n. A value that is too long, is no UTF-8
// or has characters that are not shown is changed; its end then is "~" and the beginning of its
// SHA-256, so that two values stay two.
std::string label_text(std::string_view value, std::size_t most_bytes);
inline constexpr std::size_t kMostLabelBytes = 128;  // of a value, before it is escaped

std::string help_text(std::string_view help, ExpositionFormat format);

// Letters, digits and '_', not beginning with a digit; Prometheus keeps colons for others.
bool is_metric_name(std::string_view name);
// The same without '_' before it, and none that the formats use themselves.
bool is_label_name(std::string_view name);

}  // namespace lockstep::launcher
