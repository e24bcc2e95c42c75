#pragma once
// Whoever keeps something that is made of the journal's facts: first it is shown those that a start
// replays, then those of each turn when they are durable. All calls come on the loop's thread, in
// the order of the journal; `state` is that after the facts.

#include <memory>
#include <vector>

#include "launcher/state/facts/fact.h"
#include "launcher/state/state.h"
#include "launcher/store/journal_position.h"

namespace lockstep::launcher {

using FactsOfTurn = std::vector<std::shared_ptr<const std::vector<StampedFact>>>;

class FactFollower {
 public:
  virtual ~FactFollower() = default;
  virtual void replayed(const StampedFact& fact, const JournalPosition& at, const State& state) = 0;
  virtual void end_replay(const JournalPosition& end) = 0;
  virtual void durable(const FactsOfTurn& facts, const JournalPosition& end,
                       const State& state) = 0;
  // The journal was compacted: the same fact is its last one, at another place.
  virtual void compacted(const JournalPosition& end) = 0;
};

}  // namespace lockstep::launcher
