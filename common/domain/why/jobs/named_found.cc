#include "common/domain/why/jobs/named_found.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

void add_spans(const std::vector<int>& ranks, NamedFound& named) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const int rank : sorted) {
    if (!named.waiting.empty() && named.more_waiting == 0 && named.waiting.back().last + 1 == rank)
      named.waiting.back().last = rank;
    else if (named.waiting.size() < kMaxWaitingSpans)
      named.waiting.push_back({rank, rank});
    else
      ++named.more_waiting;
  }
}

}  // namespace

NamedFound named(const Found& found, std::string job, int stacks_of_attempt,
                 const std::function<std::string(int)>& node_of) {
  NamedFound named;
  named.job = std::move(job);
  named.kind = found.kind;
  named.verdict = found.verdict;
  named.about = found.about;
  named.ranks = found.ranks;
  named.lasting = found.lasting;
  named.fact = found.fact;
  named.here = found.here;
  named.elsewhere = found.elsewhere;
  named.stacks_of_attempt = stacks_of_attempt;
  add_spans(found.waiting, named);
  std::vector<int> node_ranks;
  if (stacks_of_attempt != 0) node_ranks.push_back(0);
  for (const FoundRank& rank : found.ranks) node_ranks.push_back(rank.node_rank);
  std::sort(node_ranks.begin(), node_ranks.end());
  node_ranks.erase(std::unique(node_ranks.begin(), node_ranks.end()), node_ranks.end());
  for (const int rank : node_ranks) named.nodes.push_back({rank, node_of(rank)});
  return named;
}

Found found_of(const NamedFound& named) {
  Found found;
  found.kind = named.kind;
  found.verdict = named.verdict;
  found.about = named.about;
  found.ranks = named.ranks;
  found.lasting = named.lasting;
  found.fact = named.fact;
  found.here = named.here;
  found.elsewhere = named.elsewhere;
  const auto add = [&](std::int64_t rank) {
    if (found.waiting.size() < kMaxFoundWaiting) found.waiting.push_back(static_cast<int>(rank));
  };
  for (const RankSpan& span : named.waiting)
    for (std::int64_t rank = span.first;
         rank <= span.last && found.waiting.size() < kMaxFoundWaiting; ++rank)
      add(rank);
  // A gap follows the last span: without it these ranks would look like a part of it.
  const std::int64_t from = named.waiting.empty() ? 0 : std::int64_t{named.waiting.back().last} + 2;
  for (int i = 0; i < named.more_waiting && found.waiting.size() < kMaxFoundWaiting; ++i)
    add(from + i);
  return found;
}

}  // namespace lockstep
