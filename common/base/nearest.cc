#include "common/base/nearest.h"

#include <algorithm>
#include <vector>

namespace lockstep {

namespace {

// Edits between two words: insertion, deletion, substitution, and a swap of neighbours
// (Damerau-Levenshtein, restricted).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// The number of wrong letters that are allowed: up to a third of the word, and never more than
// three.
std::size_t allowed_edits(std::string_view word) {
  return std::clamp<std::size_t>((word.size() + 2) / 3, 1, 3);
}

constexpr std::size_t kLongestWord = 64;

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kLongestWord) return "";
  std::string_view best;
  std::size_t best_edits = allowed_edits(word) + 1;
  for (const auto candidate : candidates) {
    const std::size_t edits = edit_distance(word, candidate);
    if (edits < best_edits && edits < candidate.size()) {
      best = candidate;
      best_edits = edits;
    }
  }
  return std::string(best);
}

}  // namespace lockstep
