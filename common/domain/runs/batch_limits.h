#pragma once
// How much one change of a run may have. What is longer is refused by name, wherever it comes from.

#include <cstddef>

namespace lockstep::metrics {

// Of one change.
inline constexpr std::size_t kMaxBatchPoints = 10'000;
inline constexpr std::size_t kMaxBatchTexts = 1'000;
inline constexpr std::size_t kMaxTextKeyBytes = 250;
inline constexpr std::size_t kMaxParamBytes = 6'000;  // as MLflow
inline constexpr std::size_t kMaxTagBytes = 8'000;    // as MLflow
inline constexpr std::size_t kMaxSourceBytes = 4'096;

}  // namespace lockstep::metrics
