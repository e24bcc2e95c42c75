#include "launcher/core/machines/view.h"

#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

namespace {

bool is_being_removed(const Context& core, const MachineRecord::Work& work) {
  const auto call = core.machines.calls.find(work.call);
  return call != core.machines.calls.end() && call->second.verb == ProviderVerb::remove;
}

}  // namespace

MachineView view_of(const Context& core, const std::string& target, const std::string& name,
                    const Machine& machine) {
  MachineView view;
  view.name = name;
  view.why_data = machine.why;
  view.since = machine.since;
  view.about = machine.about;
  const MachineRecord& record = core.machines.of(target, name);
  const auto& work = record.work;
  const auto& waiting = record.waiting;
  if (waiting) view.waits_data = waiting->why;
  if (work) view.step = work->step.value_or(std::string(kFirstMachineStep));
  const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
  if (node != nullptr) view.node = node->name;
  if (node != nullptr)
    if (const Why* lacks = core.watches.shortfall_of(node->id)) view.waits_data = *lacks;
  if (machine.is_leaving())
    view.state = work && is_being_removed(core, *work) ? "removing" : "leaving";
  else if (node != nullptr)
    view.state = node->lost                                           ? "lost"
                 : core.watches.liveness(node->id) == Liveness::alive ? "joined"
                                                                      : "unknown";
  else if (waiting)
    view.state = "pending";
  else if (work)
    view.state = "creating";
  else
    view.state = machine.failure ? "failed" : machine.is_created() ? "created" : "wanted";
  if (machine.failure) {
    view.failed_step = machine.failure->step;
    view.failed_code = to_string(machine.failure->fault);
    view.failure_data = machine.failure->why;
    view.failures = machine.failures();
    if (!work) view.retry_at = machine.not_before;
  }
  return view;
}

}  // namespace lockstep::launcher
