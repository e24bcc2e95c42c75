#include "tests/sim/saboteur.h"

namespace lockstep::sim {
const std::vector<DefectInfo>& all_defects() {
  static const std::vector<DefectInfo> kAll = {};
  return kAll;
}
bool Saboteur::agent_hears(agent::Input&) { return true; }
bool Saboteur::agent_acts(agent::Action&) { return true; }
bool Saboteur::runner_hears(runner::Input&) { return true; }
bool Saboteur::runner_acts(runner::Action&) { return true; }
bool Saboteur::launcher_hears(launcher::Input&) { return true; }
bool Saboteur::launcher_acts(launcher::Action&, bool) { return true; }
bool Saboteur::launcher_records(const launcher::StampedFact&) { return true; }
}  // namespace lockstep::sim
