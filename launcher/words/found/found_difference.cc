// The difference between earlier findings and new ones, for readers of the earlier ones.

#include <algorithm>

#include "launcher/words/found/say_found.h"

namespace lockstep::words {

namespace {

bool holds(const FoundList& list, const Found& found) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Found& one) { return is_same(one, found); });
}

bool is_about(const Found& found, int rank) {
  return std::any_of(found.ranks.begin(), found.ranks.end(),
                     [&](const FoundRank& one) { return one.rank == rank; });
}

// Whether the end of this finding is reported as the end of a wait.
bool is_wait(FoundKind kind) {
  switch (kind) {
    case FoundKind::waits:
    case FoundKind::cycle:
    case FoundKind::peer_gone:
    case FoundKind::unequal_counts:
    case FoundKind::missed_fence:
    case FoundKind::left_early: return true;
    case FoundKind::not_started:
    case FoundKind::stopped:
    case FoundKind::device_wait:
    case FoundKind::two_claims:
    case FoundKind::slow:
    case FoundKind::different_versions: return false;
  }
  return false;
}

// Whether `before` still holds, given `now`. A wait continues if another reason for it is found; a
// message that nobody waits any more would be wrong.
bool goes_on(const Found& before, const Found& now) {
  const bool waits = is_wait(before.kind) && (is_wait(now.kind) || !now.waiting.empty());
  if (now.kind != before.kind && !waits) return false;
  return std::any_of(before.ranks.begin(), before.ranks.end(), [&](const FoundRank& one) {
    return is_about(now, one.rank) ||
           (waits && std::binary_search(now.waiting.begin(), now.waiting.end(), one.rank));
  });
}

}  // namespace

FoundDifference difference_of(const FoundList& before, const FoundList& now) {
  FoundDifference difference;
  for (const Found& found : now)
    if (!holds(before, found)) difference.fresh.push_back(found);
  for (const Found& found : before) {
    if (std::none_of(now.begin(), now.end(), [&](const Found& one) { return goes_on(found, one); }))
      difference.over.push_back(found);
  }
  return difference;
}

bool say_the_same(const FoundList& a, const FoundList& b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](const Found& found) { return holds(b, found); });
}

}  // namespace lockstep::words
