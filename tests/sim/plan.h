#pragma once
// What a simulated job does: how long its ranks run, which one fails and how. The plan is drawn
// when the job is created, so that every attempt follows the same plan.

#include <optional>

#include "common/domain/job/spec.h"
#include "tests/sim/oracle.h"

namespace lockstep::sim {

// Submits jobs beside ada, who may do everything.
inline constexpr const char* kSecondUser = "bea";
inline constexpr const char* kSecondUsersPriority = "second user's priority";
inline constexpr const char* kNote = "noted by its owner";  // the only change of texts

struct RankPlan {
  Ending ending = Ending::ok;
  Duration runs = seconds(1);
  int code = 0;
  bool endless = false;  // runs until it is stopped
  bool ignores_term = false;
  bool ends_well_on_term = false;  // handles SIGTERM and exits with code 0
  bool strays = false;             // leaves a double-forked child
};

struct JobPlan {
  JobSpec spec;
  std::optional<int> failing_rank;
  Ending ending = Ending::ok;
  int code = 0;
  Duration runs = seconds(1);
  Duration fails_after = seconds(1);
  bool endless = false;
  bool coupled = false;     // when one rank dies, the others hang or fail too
  bool impossible = false;  // asks for more nodes than there are
  double ignores_term = 0, ends_well_on_term = 0, strays = 0;

  RankPlan rank(int rank, Random& random) const {
    RankPlan plan;
    plan.runs = runs + random.between(milliseconds(0), milliseconds(200));
    plan.endless = endless;
    if (failing_rank) {
      if (*failing_rank == rank) {
        plan.ending = ending;
        plan.code = code;
        plan.runs = fails_after;
        plan.endless = false;
      } else if (coupled) {
        plan.endless = true;
      }
    }
    plan.ignores_term = random.chance(ignores_term);
    plan.ends_well_on_term = random.chance(ends_well_on_term);
    plan.strays = random.chance(strays);
    return plan;
  }
};

JobPlan draw_job(Random& random, int number, int nodes);
// Of a job that asks for more nodes than there are, one that can run.
void make_possible(JobPlan& plan);

}  // namespace lockstep::sim
