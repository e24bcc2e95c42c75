#include "launcher/core/found_state.h"

#include <algorithm>

#include "launcher/core/state.h"
#include "launcher/words/found.h"

namespace lockstep::launcher {

namespace {

bool holds(const FoundList& list, const Found& found) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Found& one) { return words::is_same(one, found); });
}

bool shares_rank(const Found& a, const Found& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&](const FoundRank& rank) {
    return std::any_of(b.ranks.begin(), b.ranks.end(),
                       [&](const FoundRank& other) { return other.rank == rank.rank; });
  });
}

}  // namespace

FoundDifference difference_of(const FoundList& before, const FoundList& now) {
  FoundDifference difference;
  for (const Found& found : now)
    if (!holds(before, found)) difference.fresh.push_back(found);
  for (const Found& found : before) {
    const bool goes_on = std::any_of(now.begin(), now.end(), [&](const Found& one) {
      return one.kind == found.kind && (shares_rank(one, found) || one.ranks.empty());
    });
    if (!goes_on) difference.over.push_back(found);
  }
  return difference;
}

bool say_the_same(const FoundList& a, const FoundList& b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](const Found& found) { return holds(b, found); });
}

Found without_contents(Found found) {
  for (FoundRank& rank : found.ranks) rank = {rank.rank, rank.node_rank, rank.doing, "", "", "", 0};
  found.fact.clear();
  found.here = found.elsewhere = 0;
  return found;
}

words::About about(const State& state, const Attempt& attempt) {
  return {attempt.id.job.value, [&state, &attempt](int node_rank) {
            if (node_rank < 0 || node_rank >= attempt.size()) return std::string();
            return state.node_name(attempt.parts[static_cast<std::size_t>(node_rank)].node);
          }};
}

}  // namespace lockstep::launcher
