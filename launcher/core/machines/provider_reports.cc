#include "launcher/core/machines/provider_reports.h"

#include <algorithm>
#include <utility>

#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/core/machines/changes.h"
#include "launcher/core/machines/rules.h"
#include "launcher/core/nodes/preemption.h"
#include "launcher/core/nodes/tokens.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

namespace {

// The time after which `create` is called again at the latest, when a provider has accepted a
// machine and not made it yet.
constexpr Duration kAskAgain = seconds(10);
constexpr std::size_t kMaxFoundBeside = 20;  // machines taken from one list, beyond max_instances
constexpr std::size_t kMaxMachineNameBytes = 63;  // the machine's name becomes the name of its node

// The fact that a machine was created. Its end is computed as a time now, because the provider's
// "left" shrinks with each report.
MachineCreated created(const Context& core, const std::string& target, const ProviderEvent& event) {
  MachineCreated fact{target, event.machine, event.about};
  fact.is_held = event.is_held;
  if (!event.ends || std::max(event.lifetime, *event.ends) == Duration(0)) return fact;
  fact.lifetime = std::max(event.lifetime, *event.ends);
  fact.ends = core.now + *event.ends;
  return fact;
}

bool is_moved(Instant before, Instant now) {
  constexpr Duration kSame = seconds(30);
  return before + kSame < now || now + kSame < before;
}

void take_running(Context& core, const std::string& target, const ProviderEvent& event) {
  const Machine* machine = core.state.computes().find_machine(target, event.machine);
  if (machine == nullptr) return;
  MachineCreated fact = created(core, target, event);
  const bool is_news = machine->is_wanted() || machine->failure || machine->about != fact.about ||
                       machine->is_held != fact.is_held || is_moved(machine->ends, fact.ends);
  const NodeId id = machine->node;
  if (is_news) core.emit(std::move(fact));
  const Node* node = id.value == 0 ? nullptr : core.state.node(id);
  if (node == nullptr || !node->lost) return;
  MachineRecord::Revival& revival = core.machines.record(target, event.machine).revival;
  revival.not_before = core.now + std::max<Duration>(backoff_after(revival.attempts), minutes(1));
  ++revival.attempts;
}

// Releases a machine whose result the call has: another call may begin for it while this one
// continues for others.
void release(Context& core, const MachineCalls::Call& call, const std::string& name) {
  if (MachineRecord* record = core.machines.find(call.target, name)) record->work.reset();
  // A machine that is made later joins with the token that it already has.
  const Compute* compute = core.state.computes().find(call.target);
  const Machine* machine = core.state.computes().find_machine(call.target, name);
  const bool may_join = core.machines.of(call.target, name).waiting ||
                        (machine != nullptr && must_still_join(compute->spec, *machine));
  if (call.verb == ProviderVerb::create && !may_join) forget_tokens(core, call.target, name);
  core.pending.dirty_targets.insert(call.target);
}

// Schedules another call for a machine that the provider has accepted and not made. Until then
// `why` is the reason that people see.
void wait_for(Context& core, const std::string& target, const ProviderEvent& event) {
  // At the same moment for all machines, so that one call asks for all of them.
  const std::int64_t step = Duration(kAskAgain).count();
  const Instant due{(core.now.ns / step + 1) * step};
  core.machines.record(target, event.machine).waiting = {event.why, due};
  core.scheduler.topology_changed(target);
}

// Whether the name may be used as a node's name and as an argument of later calls. A provider's
// list is not trusted.
bool is_machine_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxMachineNameBytes && name[0] != '-' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

// Takes the machines that a provider lists. Those that the launcher does not know are collected
// until the list ends, so that one call removes them all; their number is limited.
void take_listed(const Context& core, MachineCalls::Call& call, const ProviderEvent& event) {
  const bool is_there = event.kind == ProviderEvent::Kind::running ||
                        event.kind == ProviderEvent::Kind::pending ||
                        event.kind == ProviderEvent::Kind::error;
  const Compute* compute = core.state.computes().find(call.target);
  // An error with the target's own name means that the provider could not list at all.
  const bool is_of_call = event.kind == ProviderEvent::Kind::error && event.machine == call.target;
  if (!is_there || is_of_call || compute == nullptr || !is_machine_name(event.machine)) return;
  const auto most = static_cast<std::size_t>(most_machines(compute->spec)) + kMaxFoundBeside;
  if (compute->machines.count(event.machine) == 0 && call.open.size() < most)
    call.open.insert(event.machine);
}

void end_list(Context& core, const MachineCalls::Call& call) {
  const Compute* compute = core.state.computes().find(call.target);
  if (compute == nullptr) return;
  MachineCalls::Target& target = core.machines.targets[call.target];
  target.listing.reset();
  for (const std::string& name : call.open)
    if (compute->machines.count(name) == 0) core.emit(MachineFound{call.target, name});
  target.list_at = compute->machines.empty() ? Instant::never() : core.now + kListEvery;
  core.pending.dirty_targets.insert(call.target);
}

// Handles the notice of a provider like a notice from the machine's agent.
void take_machine_notice(Context& core, const std::string& target, const ProviderEvent& event) {
  const Machine* machine = core.state.computes().find_machine(target, event.machine);
  if (machine == nullptr || machine->node.value == 0) return;
  const Node* node = core.state.node(machine->node);
  if (node == nullptr || node->lost) return;
  take_notice(core, node->id, event.left, event.why ? event.why : Why(ProviderSaysSo{}));
}

void expect_joined(Context& core, const std::string& target, const std::string& name) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr || machine->node.value != 0) return;
  if (joins_later(core.state.computes().find(target)->spec)) return;
  fail_machine(core, target, name,
               {std::string(kJoinStep), MachineFault::launcher_unreachable, MachineNotJoined{}});
}

}  // namespace

void react(Context& core, const ProviderTokensInput& input) {
  const auto call = core.machines.calls.find(input.call);
  if (call == core.machines.calls.end()) return;
  for (const auto& [machine, hash] : input.secret_hashes) {
    if (call->second.machines.count(machine) == 0 || core.state.tokens().count(hash) != 0) continue;
    const Compute* compute = core.state.computes().find(call->second.target);
    // A machine that an earlier call has ordered has that call's token.
    if (compute == nullptr || !joins_later(compute->spec))
      forget_tokens(core, call->second.target, machine);
    core.emit(TokenCreated{hash, input.expires, 1, Approval::waived, call->second.target, machine});
  }
  core.act(StartProvider{input.call});
}

void react(Context& core, const ProviderEventInput& input) {
  const auto found = core.machines.calls.find(input.call);
  if (found == core.machines.calls.end()) return;
  MachineCalls::Call& call = found->second;
  const ProviderEvent& event = input.event;
  if (event.kind == ProviderEvent::Kind::notice)
    return take_machine_notice(core, call.target, event);
  if (call.verb == ProviderVerb::list) return take_listed(core, call, event);
  if (call.open.count(event.machine) == 0) return;
  const bool is_create = call.verb == ProviderVerb::create;
  MachineRecord* record = core.machines.find(call.target, event.machine);
  switch (event.kind) {
    case ProviderEvent::Kind::step:
      if (record != nullptr && record->work) record->work->step = event.step;
      return;
    case ProviderEvent::Kind::warning:
    case ProviderEvent::Kind::notice: return;
    case ProviderEvent::Kind::running:
      if (!is_create) return;
      take_running(core, call.target, event);
      expect_joined(core, call.target, event.machine);
      break;
    case ProviderEvent::Kind::pending:
      if (!is_create) return;
      wait_for(core, call.target, event);
      break;
    case ProviderEvent::Kind::absent:
      if (is_create) return;
      end_machine(core, call.target, event.machine, MachineRemoved{});
      break;
    case ProviderEvent::Kind::error:
      fail_machine(core, call.target, event.machine,
                   {event.step, event.fault, event.why, !is_create});
      break;
  }
  record = core.machines.find(call.target, event.machine);  // null if the machine is gone now
  if (record != nullptr && event.kind != ProviderEvent::Kind::pending) record->waiting.reset();
  call.open.erase(event.machine);
  release(core, call, event.machine);
}

void react(Context& core, const ProviderNoticeInput& input) {
  take_machine_notice(core, input.target, input.event);
}

void react(Context& core, const ProviderEndedInput& input) {
  const auto found = core.machines.calls.find(input.call);
  if (found == core.machines.calls.end()) return;
  const MachineCalls::Call call = std::move(found->second);
  core.machines.calls.erase(found);
  if (call.verb == ProviderVerb::list) return end_list(core, call);
  for (const std::string& name : call.open) {
    std::string step(kCallStep);
    if (MachineRecord* record = core.machines.find(call.target, name)) {
      record->waiting.reset();
      if (record->work) step = record->work->step.value_or(step);
    }
    fail_machine(core, call.target, name,
                 {step, input.fault, input.why, call.verb == ProviderVerb::remove});
    release(core, call, name);
  }
}

}  // namespace lockstep::launcher
