// What the oracle knows of a lab whose machines the launcher makes and removes by itself.

#include <algorithm>

#include "common/domain/why/nodes/machines.h"
#include "tests/sim/oracle.h"

namespace lockstep::sim {

namespace {

int staying(const launcher::Compute& lab) {
  int count = 0;
  for (const auto& [name, machine] : lab.machines) count += machine.is_leaving() ? 0 : 1;
  return count;
}

}  // namespace

void Oracle::judge(const launcher::MachineWanted& fact) {
  const launcher::Compute* lab = state_.computes().find(fact.target);
  if (!scale_ || lab == nullptr) return;
  world_.count("launcher:scaled_up");
  if (static_cast<int>(lab->machines.size()) >= most_machines(lab->spec))
    world_.violate("oracle:scale", fact.machine + " is wanted beyond max_instances");
}

void Oracle::judge(const launcher::MachineLeaving& fact) {
  const launcher::Compute* lab = state_.computes().find(fact.target);
  const launcher::Machine* machine = state_.computes().find_machine(fact.target, fact.machine);
  if (!scale_ || lab == nullptr || machine == nullptr) return;
  if (!fact.why.is<MachineIdle>()) return;
  world_.count("launcher:scaled_down");
  const launcher::Node* node = state_.node(machine->node);
  if (node != nullptr && !node->parts.empty())
    world_.violate("oracle:scale", fact.machine + " leaves for lack of work, but holds parts");
  if (staying(*lab) <= scale_->min_instances)
    world_.violate("oracle:scale", fact.machine + " leaves below min_instances");
}

// A provider ends all that runs on a machine.
void Oracle::machine_removed(const std::string& name) {
  const launcher::Machine* machine = state_.computes().find_machine(kLab, name);
  if (machine == nullptr || machine->is_forced()) return;
  const launcher::Node* node = state_.node(machine->node);
  if (node != nullptr && !node->parts.empty())
    world_.violate("oracle:scale", name + " is removed while its node holds parts");
}

void Oracle::check_preemption(const launcher::Job& job, const launcher::JobRequeued& fact) {
  const bool may_go = scale_ && scale_->tier == Tier::low_priority && job.pool == kLab;
  if (!may_go) return;
  const Cause cause = job.attempts.back().ended->cause;
  if (cause == Cause::preempted) world_.count("launcher:preempted_with_notice");
  if (cause != Cause::node_lost && cause != Cause::runner_lost && cause != Cause::preempted) return;
  world_.count("launcher:preempted");
  if (fact.charged)
    world_.violate("oracle:scale", job.id.value + " was charged for a low_priority machine");
}

// Only because one of its nodes is taken away, and with the grace that its ranks can have.
void Oracle::judge(const launcher::AttemptDoomed& fact) {
  if (fact.report.cause != Cause::preempted) return;
  world_.count("launcher:stopped_for_notice");
  const launcher::Attempt& attempt = *state_.attempt(fact.attempt);
  const bool is_taken =
      std::any_of(attempt.parts.begin(), attempt.parts.end(), [&](const launcher::Part& part) {
        const launcher::Node* node = state_.node(part.node);
        return node != nullptr && node->notice;
      });
  if (!is_taken || calm_)
    world_.violate("oracle:taken", to_string(fact.attempt) + " is stopped for a notice of nobody");
  if (!fact.grace || fact.reason == StopReason::gang_failed)
    world_.violate("oracle:taken", to_string(fact.attempt) + " is stopped without grace");
}

}  // namespace lockstep::sim
