#include "launcher/core/attempts/gang_findings.h"

#include <algorithm>
#include <utility>

#include "launcher/words/found/say_found.h"

namespace lockstep::launcher {

namespace {

// The findings that a node reports, without those about ranks that the gang does not have. Times
// are converted to the launcher's clock if the offset of the node's clock is known.
FoundList checked_found(const FoundList& from, const JobSpec& spec, int nodes,
                        const std::optional<ClockOffset>& clock) {
  const int world = spec.world_size();
  FoundList list;
  for (const Found& one : from) {
    if (list.size() == kMaxFound) break;
    Found found = one;
    std::erase_if(found.ranks, [&](const FoundRank& rank) {
      return rank.rank < 0 || rank.rank >= world || rank.node_rank < 0 || rank.node_rank >= nodes;
    });
    std::erase_if(found.waiting, [&](int rank) { return rank < 0 || rank >= world; });
    std::sort(found.waiting.begin(), found.waiting.end());
    if (found.ranks.empty()) continue;
    if (clock && found.since.ns != 0 && found.since.ns > clock->ahead.count())
      found.since = found.since - clock->ahead;
    list.push_back(std::move(found));
  }
  return list;
}

bool may_be_fact(const NodeWatch::Findings& findings, Instant now) {
  const Duration lasted = now > findings.began ? now - findings.began : Duration::zero();
  return findings.facts < kFoundFactsAtOnce + lasted / kFoundFactEvery;
}

}  // namespace

void take_found(Context& core, NodeId node, const PartReport& report) {
  if (report.state != PartState::running && report.state != PartState::stopping) return;
  const Attempt& attempt = *core.state.attempt(report.attempt);
  if (attempt.parts.front().node != node) return;  // only node rank 0 compares the ranks
  NodeWatch& watch = core.watches.at(node);
  const auto known = watch.findings.find(report.attempt);
  const bool is_first = known == watch.findings.end();
  if (is_first && report.found.empty() && attempt.found.empty()) return;
  NodeWatch::Findings& findings = watch.findings[report.attempt];
  if (is_first) findings = {attempt.found, core.now, 0};
  FoundList fresh = checked_found(report.found, core.state.job(report.attempt.job)->spec,
                                  attempt.size(), watch.clock.offset());
  const bool says_the_same = words::say_the_same(findings.found, fresh);
  findings.found = std::move(fresh);
  if (!says_the_same) core.pending.job_changed(report.attempt.job);
  if (words::say_the_same(attempt.found, findings.found) || !may_be_fact(findings, core.now))
    return;
  ++findings.facts;
  core.emit(FoundChanged{report.attempt, node, findings.found});
}

}  // namespace lockstep::launcher
