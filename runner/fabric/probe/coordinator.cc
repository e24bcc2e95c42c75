#include "runner/fabric/probe/coordinator.h"

#include <algorithm>

#include "runner/fabric/probe/dial_plan.h"

namespace lockstep::runner {

Coordinator::Coordinator(std::vector<ProbedNode> nodes, std::uint64_t seed, Instant now)
    : nodes_(std::move(nodes)),
      seed_(seed),
      until_(now + kOffersWithin),
      has_plan_(nodes_.size()) {}

Coordinator::Step Coordinator::take(Instant, const ProbeOffer& offer) {
  const auto rank = static_cast<std::size_t>(offer.node_rank);
  if (phase_ != Phase::offers || rank >= nodes_.size() || nodes_[rank].offer) return {};
  nodes_[rank].offer = offer;
  Step step;
  step.has_offers = ++offers_ == nodes_.size();
  if (step.has_offers) phase_ = Phase::begins;
  return step;
}

Coordinator::Step Coordinator::begin(Instant now, std::optional<ProbeOutcome> known) {
  if (phase_ != Phase::begins) return {};
  if (known) return end(*std::move(known));
  PairRequest request;
  for (const ProbedNode& node : nodes_) {
    request.hosts.push_back(node.host);
    request.absent.push_back(!node.offer || node.offer->candidates.empty());
  }
  request.seed = seed_;
  request.all_dial_first = nodes_.front().offer && !nodes_.front().offer->rank_ports.empty();
  const PairPlan pairs = plan_pairs(request);
  Step step;
  for (std::size_t rank = 0; rank < pairs.size(); ++rank) {
    if (pairs[rank].empty()) continue;
    ProbePlan plan;
    for (const PlannedPeer& peer : pairs[rank])
      plan.peers.push_back(
          {*nodes_[static_cast<std::size_t>(peer.node)].offer, peer.tested, peer.burst});
    // The other nodes do not need it.
    for (ProbePeer& peer : plan.peers) peer.offer.fingerprint.clear();
    step.plans.emplace_back(static_cast<int>(rank), std::move(plan));
    has_plan_[rank] = true;
  }
  awaited_ = step.plans.size();
  phase_ = Phase::findings;
  until_ = now + kFindingsWithin;
  if (awaited_ == 0) return end(choose(nodes_));
  return step;
}

Coordinator::Step Coordinator::take(Instant, const ProbeFindings& findings) {
  const auto rank = static_cast<std::size_t>(findings.node_rank);
  if (phase_ != Phase::findings || rank >= nodes_.size() || !has_plan_[rank]) return {};
  if (nodes_[rank].findings) return {};
  nodes_[rank].findings = findings;
  if (--awaited_ > 0) return {};
  return end(choose(nodes_));
}

Coordinator::Step Coordinator::expire(Instant now) {
  if (now < next_deadline()) return {};
  if (phase_ == Phase::findings) return end(choose(nodes_));
  phase_ = Phase::begins;
  Step step;
  step.has_offers = true;
  return step;
}

Coordinator::Step Coordinator::end(ProbeOutcome outcome) {
  phase_ = Phase::over;
  Step step;
  step.outcome = std::move(outcome);
  return step;
}

Instant Coordinator::next_deadline() const {
  return phase_ == Phase::offers || phase_ == Phase::findings ? until_ : Instant::never();
}

bool Coordinator::is_complete() const {
  return offers_ == nodes_.size() && (phase_ != Phase::over || awaited_ == 0);
}

}  // namespace lockstep::runner
