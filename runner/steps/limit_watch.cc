#include "runner/steps/limit_watch.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::runner {
namespace {

constexpr unsigned long long kMuchMore = 8;  // so many times what was told last

std::string processes(long long count) {
  return fmt::format("{} {}", with_commas(count),
                     count == 1 ? "process or thread" : "processes or threads");
}

}  // namespace

bool LimitWatch::is_news(Kind kind, unsigned long long count, bool final) {
  unsigned long long& told = told_[kind];
  if (count <= told || (!final && told != 0 && count < kMuchMore * told)) return false;
  told = count;
  return true;
}

void LimitWatch::set(Kind kind, std::string line) {
  const auto [place, is_new] = place_.try_emplace(kind, lines_.size());
  if (is_new) lines_.emplace_back();
  lines_[place->second] = std::move(line);
}

std::string LimitWatch::refusal_of(int rank, const LimitCounts& counts) const {
  const auto found = counts.refused_forks.find(rank);
  if (found == counts.refused_forks.end()) return "";
  if (pids_of_all_ > 0)
    return fmt::format("was refused {}: all jobs of this node together may have {}",
                       processes(found->second), with_commas(pids_of_all_));
  return fmt::format("was refused {}: its limit is {} (--pids-limit)", processes(found->second),
                     with_commas(limits_.pids));
}

std::string LimitWatch::pids_line(const LimitCounts& counts) const {
  if (counts.refused_in_container > 0)
    return fmt::format(
        "the ranks were refused {}: the limit of their container is {} "
        "(--pids-limit, for each of them)",
        processes(counts.refused_in_container), with_commas(counts.container_pids));
  if (counts.refused_forks.empty())
    return fmt::format("the jobs of this node were refused {}: together they may have {}",
                       processes(counts.refused_of_all), with_commas(pids_of_all_));
  const int first = counts.refused_forks.begin()->first;
  const std::size_t others = counts.refused_forks.size() - 1;
  std::string line = fmt::format("rank {} {}", first, refusal_of(first, counts));
  if (others > 0) line += fmt::format("; so were {} other ranks", others);
  return line;
}

std::string LimitWatch::log_line(const LimitCounts& counts) const {
  const std::string who =
      counts.dropping_ranks == 1
          ? fmt::format("rank {}", counts.dropped_of)
          : fmt::format("{} ranks (the first is {})", counts.dropping_ranks, counts.dropped_of);
  return fmt::format(
      "{} of the output of {} are not kept: the limit of a job's logs on this node "
      "is {} (--log-limit)",
      to_string(counts.dropped), who, to_string(limits_.log));
}

bool LimitWatch::look(const LimitCounts& counts, bool final) {
  bool changed = false;
  if (counts.pids_of_all > 0) pids_of_all_ = counts.pids_of_all;
  long long refused = counts.refused_in_container;
  if (counts.refused_forks.empty() && counts.pids_of_all > 0) refused += counts.refused_of_all;
  for (const auto& [rank, count] : counts.refused_forks) refused += count;
  if (refused > 0 && is_news(Kind::pids, static_cast<unsigned long long>(refused), final)) {
    set(Kind::pids, pids_line(counts));
    changed = true;
  }
  // A disk that is full refuses logs below their limit, too.
  const bool is_cut = counts.dropping_ranks > 0 && place_.count(Kind::disk) == 0;
  if (is_cut && is_news(Kind::log, counts.dropped.count, final)) {
    set(Kind::log, log_line(counts));
    changed = true;
  }
  return changed;
}

}  // namespace lockstep::runner
