#pragma once
// The proof that the checkers see: named defects, each put between a real core and its simulated
// shell, where it swallows, alters or doubles what passes. The cores themselves stay untouched.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "agent/core/core.h"
#include "launcher/core/core.h"
#include "runner/core/core.h"

namespace lockstep::sim {

enum class Defect {
  none,
  // launcher
  acts_before_commit,
  recovery_forgets_grace,
  stall_counts,
  logs_taken_for_durable,
};

struct DefectInfo {
  Defect kind = Defect::none;
  std::string_view name;
  std::string_view what;
};
const std::vector<DefectInfo>& all_defects();

class Saboteur {
 public:
  explicit Saboteur(Defect defect) : defect_(defect) {}
  bool has(Defect defect) const { return defect_ == defect; }

  // May alter what passes; false: it is swallowed.
  bool agent_hears(agent::Input& input);
  bool agent_acts(agent::Action& action);
  bool runner_hears(runner::Input& input);
  bool runner_acts(runner::Action& action);
  bool launcher_hears(launcher::Input& input);
  bool launcher_acts(launcher::Action& action, bool resuming);
  bool launcher_records(const launcher::StampedFact& fact);

 private:
  Defect defect_;
};

}  // namespace lockstep::sim
