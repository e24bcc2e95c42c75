#include "runner/node/limit_watch.h"

#include <utility>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"

namespace lockstep::runner {
namespace {

// A count is logged again when it has grown by this factor.
constexpr unsigned long long kMuchMore = 8;

}  // namespace

bool LimitWatch::is_news(Kind kind, unsigned long long count, bool final) {
  unsigned long long& told = told_[kind];
  if (count <= told || (!final && told != 0 && count < kMuchMore * told)) return false;
  told = count;
  return true;
}

void LimitWatch::set(Kind kind, Why why) {
  const auto [place, is_new] = place_.try_emplace(kind, reached_.size());
  if (is_new) reached_.emplace_back();
  reached_[place->second] = std::move(why);
}

Why LimitWatch::refusal_of(int rank, const LimitCounts& counts) const {
  const auto found = counts.refused_forks.find(rank);
  if (found == counts.refused_forks.end()) return {};
  if (pids_of_all_ > 0) return WasRefusedForks{found->second, pids_of_all_, true};
  return WasRefusedForks{found->second, limits_.pids, false};
}

Why LimitWatch::of_pids(const LimitCounts& counts) const {
  if (counts.refused_in_container > 0)
    return ForksRefusedInContainer{counts.refused_in_container, counts.container_pids};
  if (counts.refused_forks.empty()) return ForksRefusedOnNode{counts.refused_of_all, pids_of_all_};
  const auto& [first, refused] = *counts.refused_forks.begin();
  const bool is_of_all = pids_of_all_ > 0;
  return ForksRefused{first, refused, is_of_all ? pids_of_all_ : limits_.pids, is_of_all,
                      static_cast<int>(counts.refused_forks.size()) - 1};
}

Why LimitWatch::of_logs(const LimitCounts& counts) const {
  return LogsAreCut{counts.dropped, counts.dropped_of, counts.dropping_ranks, limits_.log};
}

bool LimitWatch::look(const LimitCounts& counts, bool final) {
  bool changed = false;
  if (counts.pids_of_all > 0) pids_of_all_ = counts.pids_of_all;
  long long refused = counts.refused_in_container;
  if (counts.refused_forks.empty() && counts.pids_of_all > 0) refused += counts.refused_of_all;
  for (const auto& [rank, count] : counts.refused_forks) refused += count;
  if (refused > 0 && is_news(Kind::pids, static_cast<unsigned long long>(refused), final)) {
    set(Kind::pids, of_pids(counts));
    changed = true;
  }
  // A full disk also drops output of logs below their limit.
  const bool is_cut = counts.dropping_ranks > 0 && place_.count(Kind::disk) == 0;
  if (is_cut && is_news(Kind::log, counts.dropped.count, final)) {
    set(Kind::log, of_logs(counts));
    changed = true;
  }
  return changed;
}

}  // namespace lockstep::runner
