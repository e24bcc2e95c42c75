#include "launcher/core/machines/changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/core/nodes/nodes.h"
#include "launcher/core/nodes/tokens.h"

namespace lockstep::launcher {

namespace {

// Failures that stay until a person changes something.
bool needs_a_person(MachineFault fault) {
  switch (fault) {
    case MachineFault::host_key:
    case MachineFault::unauthenticated:
    case MachineFault::unsupported:
    case MachineFault::conflict: return true;
    case MachineFault::unreachable:
    case MachineFault::no_space:
    case MachineFault::no_permission:
    case MachineFault::launcher_unreachable:
    case MachineFault::timed_out:
    case MachineFault::failed: break;
  }
  return false;
}

// Whether the failure is news. A machine that leaves is removed whatever its last `create` did;
// only an installation on it matters.
bool is_news(const Machine& machine, const Machine::Failure& failure) {
  if (!machine.is_leaving() || failure.removing) return true;
  return !machine.reached && is_before_install(failure.step);
}

// Whether `create` tells the agent of a joined machine the launcher's address (decision 068).
bool tells_agents(NodeSource source) {
  switch (source) {
    case NodeSource::ssh:
    case NodeSource::docker:
    case NodeSource::slurm: return true;
    case NodeSource::kubernetes:  // telling the agent would need the right to exec in its pod
    case NodeSource::command:
    case NodeSource::join:
    case NodeSource::none: break;
  }
  return false;
}

}  // namespace

Duration backoff_after(int failures) {
  Duration wait = kFirstMachineBackoff;
  for (int i = 0; i < failures && wait < kLongestMachineBackoff; ++i) wait *= 2;
  return std::min(wait, kLongestMachineBackoff);
}

Why why_failed(const Machine::Failure& failure) {
  return MachineStepFailed{failure.step, failure.fault, failure.why};
}

void fail_machine(Context& core, const std::string& target, const std::string& name,
                  Machine::Failure failure) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr || !is_news(*machine, failure)) return;
  const Compute& compute = *core.state.computes().find(target);
  const bool is_of_target = is_elastic(compute.spec) && !failure.removing;
  // Failures at the same moment count as one.
  const int before = compute.failures - (compute.not_before > core.now ? 1 : 0);
  const int failures = is_of_target ? before : machine->failures();
  // The failure of one ssh host does not concern other hosts. If one made machine fails, the next
  // would fail too.
  const bool is_of_host = is_of_target && compute.spec.source == NodeSource::ssh;
  const Duration wait = needs_a_person(failure.fault) && !is_of_host ? kLongestMachineBackoff
                                                                     : backoff_after(failures);
  if (!failure.removing && is_before_install(failure.step))
    core.machines.record(target, name).is_untouched = true;
  core.emit(MachineFailed{target, name, std::move(failure.step), failure.fault,
                          std::move(failure.why), core.now + wait, failure.removing});
}

bool joins_later(const ComputeSpec& spec) { return spec.source == NodeSource::command; }

bool must_still_join(const ComputeSpec& spec, const Machine& machine) {
  return joins_later(spec) && machine.is_created() && machine.node.value == 0 && !machine.failure;
}

void end_machine(Context& core, const std::string& target, const std::string& name, Why why) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr) return;
  forget_tokens(core, target, name);
  if (machine->node.value != 0)
    remove_node(core, machine->node, MachineIsGone{}, "its machine is gone");
  core.emit(MachineGone{target, name, std::move(why)});
}

void react(Context& core, const LauncherMovedInput&) {
  for (const auto& [target, compute] : core.state.computes().all()) {
    if (!tells_agents(compute.spec.source)) continue;
    for (const auto& [name, machine] : compute.machines) {
      if (machine.node.value == 0 || machine.is_leaving()) continue;
      core.machines.record(target, name).must_refresh = true;
      core.pending.dirty_targets.insert(target);
    }
  }
}

}  // namespace lockstep::launcher
