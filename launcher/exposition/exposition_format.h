#pragma once
// The two text formats in which Prometheus reads metrics, and which of them an asker wants.
// https://prometheus.io/docs/instrumenting/exposition_formats (0.0.4), and OpenMetrics 1.0.0.

#include <cstddef>
#include <string_view>

namespace lockstep::launcher {

enum class ExpositionFormat { prometheus_text, open_metrics };

// Of the answer.
std::string_view content_type(ExpositionFormat format);

// By the asker's Accept header, "" if it sent none. OpenMetrics only if it is asked for by name,
// and not less than the other.
ExpositionFormat wanted_format(std::string_view accept);
inline constexpr std::size_t kMaxAcceptBytes = 4'096;  // of a longer one the beginning counts

}  // namespace lockstep::launcher
