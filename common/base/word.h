#pragma once
// The number of each value of an enum on the wire and in journals, and its word for people and
// files: `Word describe(E)`, a switch over all of E, found by argument-dependent lookup. A number
// never changes; the order of the enumerators may.
//
//   Word describe(Tier tier) {
//     switch (tier) {
//       case Tier::dedicated: return {0, "dedicated"};
//       case Tier::low_priority: return {1, "low_priority"};
//     }
//     return {};
//   }

#include <optional>
#include <string_view>

namespace lockstep {

struct Word {
  int number = -1;
  const char* word = nullptr;  // null: there is no such enumerator
};

// Enumerators count from 0, or from 1, without gaps, and no enum has as many as this.
inline constexpr int kMostWords = 64;

template <class E>
std::optional<E> with_number(int number) {
  const E likely = static_cast<E>(number - 1);  // most numbers are the enumerator's plus one
  if (const Word one = describe(likely); one.word != nullptr && one.number == number) return likely;
  for (int i = 0; i < kMostWords; ++i) {
    const Word one = describe(static_cast<E>(i));
    if (one.word != nullptr && one.number == number) return static_cast<E>(i);
  }
  return std::nullopt;
}

template <class E>
std::optional<E> with_word(std::string_view word) {
  for (int i = 0; i < kMostWords; ++i) {
    const Word one = describe(static_cast<E>(i));
    if (one.word != nullptr && one.word == word) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace lockstep
