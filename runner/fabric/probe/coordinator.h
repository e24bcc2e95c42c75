#pragma once
// Node rank 0's part in a probe: it collects the offers, distributes the plans, collects the
// findings and chooses. It waits for each node at most for the times below: a node that does not
// answer keeps its address. No input, output or clock here.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/fabric/probe/choice.h"

namespace lockstep::runner {

inline constexpr Duration kOffersWithin = seconds(3);
// the time for findings, longer than kPathsWithin
inline constexpr Duration kFindingsWithin = seconds(8);

class Coordinator {
 public:
  struct Step {
    bool has_offers = false;                       // call begin()
    std::vector<std::pair<int, ProbePlan>> plans;  // by node rank; without a key
    std::optional<ProbeOutcome> outcome;           // set at the end
  };

  Coordinator(std::vector<ProbedNode> nodes, std::uint64_t seed, Instant now);

  // Takes an offer. An offer of another node, or a repeated one, changes nothing.
  Step take(Instant now, const ProbeOffer& offer);
  Step take(Instant now, const ProbeFindings& findings);
  Step expire(Instant now);
  // Begins the probe; called after has_offers. `known`: the result of an earlier probe of these
  // nodes; then no node dials.
  Step begin(Instant now, std::optional<ProbeOutcome> known);

  Instant next_deadline() const;
  const std::vector<ProbedNode>& nodes() const { return nodes_; }
  // Whether all nodes took part to the end: the result may then be kept for the next gang.
  bool is_complete() const;

 private:
  enum class Phase { offers, begins, findings, over };
  Step end(ProbeOutcome outcome);

  std::vector<ProbedNode> nodes_;
  const std::uint64_t seed_;
  Phase phase_ = Phase::offers;
  Instant until_;
  std::size_t offers_ = 0, awaited_ = 0;  // nodes; awaited: those that have a plan and no findings
  std::vector<bool> has_plan_;
};

}  // namespace lockstep::runner
