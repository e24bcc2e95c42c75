#pragma once
// Splits questions about many blobs: one message may name 20,000 digests.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"

namespace lockstep::transfer {

inline constexpr std::size_t kDigestsPerQuestion = 10'000;

// Calls `ask` with at most kDigestsPerQuestion of `digests` at a time, in their order. Returns the
// first error.
inline Status in_questions(const std::vector<Digest>& digests,
                           const std::function<Status(std::vector<Digest> part)>& ask) {
  for (std::size_t begin = 0; begin < digests.size(); begin += kDigestsPerQuestion) {
    const auto at = [&](std::size_t i) { return digests.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t end = std::min(begin + kDigestsPerQuestion, digests.size());
    TRY(ask({at(begin), at(end)}));
  }
  return {};
}

}  // namespace lockstep::transfer
