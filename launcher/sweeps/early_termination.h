#pragma once
// Which trials a policy ends early: the formulas of Azure's documents (how-to-tune-hyperparameters,
// "Specify early termination policy"). A trial is judged at the newest interval that it has
// reached, against the trials that have reached it too, by what they had logged up to there; trials
// that have ended or were stopped count as well. So the answer follows from what was logged and
// from the trials' states, not from the order in which reports came, and asking again changes
// nothing.

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "common/domain/sweep.h"
#include "launcher/sweeps/progress.h"

namespace lockstep::sweeps {

struct BeyondSlack {
  double best = 0;     // of all trials at this interval
  double allowed = 0;  // what is worse is stopped
};
struct BelowMedian {
  double median = 0;  // of the running means of all trials over these intervals
  std::size_t trials = 0;
};
struct Truncated {
  std::size_t worst = 0;  // so many of the trials are stopped,
  std::size_t trials = 0;
};

// Why a trial is stopped, as numbers.
struct EarlyStop {
  std::uint64_t interval = 0;
  double best = kNoValue;  // its own best value up to the interval
  std::variant<BeyondSlack, BelowMedian, Truncated> why;
};

struct StoppedTrial {
  std::size_t trial = 0;
  EarlyStop stop;
};

// Of the active trials, those that the policy ends now, in ascending order.
std::vector<StoppedTrial> early_stops(const EarlyTermination& early, Goal goal,
                                      const std::vector<Trial>& trials);

// What a bandit policy allows beside this best value. Of a negative one the allowed distance is
// mirrored, since best / (1 + slack_factor) would be better than the best.
double allowed_by(const BanditPolicy& bandit, Goal goal, double best);

}  // namespace lockstep::sweeps
