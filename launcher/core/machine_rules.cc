#include "launcher/core/machine_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "launcher/core/nodes.h"

namespace lockstep::launcher {

namespace {

using Key = MachineCalls::Key;

// The failures after which a person has to change something before a call can succeed.
bool needs_a_person(const std::string& code) {
  static const std::set<std::string> kCodes{"host_key", "unauthenticated", "unsupported",
                                            "conflict"};
  return kCodes.count(code) != 0;
}

Duration backoff_after(int failures) {
  Duration wait = kFirstMachineBackoff;
  for (int i = 0; i < failures && wait < kLongestMachineBackoff; ++i) wait *= 2;
  return std::min(wait, kLongestMachineBackoff);
}

// A machine that leaves will be removed whatever became of a `create` that was under way; only that
// nothing was installed matters.
bool is_news(const Machine& machine, const Machine::Failure& failure) {
  if (machine.phase != Machine::Phase::leaving || failure.removing) return true;
  return !machine.reached && is_before_install(failure.step);
}

void fail_machine(Context& core, const std::string& target, const std::string& name,
                  Machine::Failure failure) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr || !is_news(*machine, failure)) return;
  const Duration wait =
      needs_a_person(failure.code) ? kLongestMachineBackoff : backoff_after(machine->failures);
  if (!failure.removing && is_before_install(failure.step))
    core.machines.untouched.insert({target, name});
  core.emit(MachineFailed{target, name, std::move(failure.step), std::move(failure.code),
                          std::move(failure.message), core.now + wait, failure.removing});
}

void forget_tokens(Context& core, const std::string& target, const std::string& machine) {
  std::vector<Digest> useless;
  for (const auto& [hash, token] : core.state.tokens())
    if (token.pool == target && token.machine == machine) useless.push_back(hash);
  for (const Digest& hash : useless) core.emit(TokenForgotten{hash});
}

// The machine is not there any more, so its node cannot come back.
void end_machine(Context& core, const std::string& target, const std::string& name,
                 std::string why) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr) return;
  forget_tokens(core, target, name);
  if (machine->node.value != 0) remove_node(core, machine->node, "its machine is gone");
  core.machines.steps.erase({target, name});
  core.machines.revivals.erase({target, name});
  core.machines.refresh.erase({target, name});
  core.machines.untouched.erase({target, name});
  core.emit(MachineGone{target, name, std::move(why)});
}

class TargetRules {
 public:
  TargetRules(Context& core, const std::string& target) : core_(core), target_(target) {}

  void run() {
    const Compute* compute = core_.state.computes().find(target_);
    if (compute != nullptr && has_provider(compute->spec)) {
      want(*compute);
      dismiss(*compute);
      prepare_leaving(*compute);
      call_provider(*compute);
      arm_timer(*compute);
    }
    hold(compute);
    if (compute != nullptr && compute->leaving && compute->machines.empty() &&
        core_.state.computes().nodes_of(target_).empty())
      core_.emit(ComputeDeleted{target_, compute->leaving->by});
  }

 private:
  const Node* node_of(const Machine& machine) const {
    return machine.node.value == 0 ? nullptr : core_.state.node(machine.node);
  }
  bool is_busy(const std::string& name) const {
    return core_.machines.busy.count({target_, name}) != 0;
  }

  void want(const Compute& compute) {
    if (compute.leaving) return;
    std::vector<std::string> missing;
    for (const SshHost& host : compute.spec.hosts)
      if (compute.machines.count(host.name) == 0) missing.push_back(host.name);
    for (std::string& name : missing)
      core_.emit(MachineWanted{target_, std::move(name), "it is a host of the target"});
  }

  void dismiss(const Compute& compute) {
    std::set<std::string> hosts;
    if (!compute.leaving)
      for (const SshHost& host : compute.spec.hosts) hosts.insert(host.name);
    std::vector<std::string> unwanted;
    for (const auto& [name, machine] : compute.machines)
      if (machine.phase != Machine::Phase::leaving && hosts.count(name) == 0)
        unwanted.push_back(name);
    for (std::string& name : unwanted)
      core_.emit(MachineLeaving{
          target_, std::move(name),
          compute.leaving ? "the target is being deleted" : "it is no longer a host of the target",
          compute.leaving && compute.leaving->force});
  }

  // Drains the nodes of leaving machines, and ends machines that no call has to remove.
  void prepare_leaving(const Compute& compute) {
    const std::map<std::string, Machine> machines = compute.machines;
    for (const auto& [name, machine] : machines) {
      if (machine.phase != Machine::Phase::leaving) continue;
      if (const Node* node = node_of(machine)) {
        if (!node->drain)
          core_.emit(NodeDrainChanged{node->id, true, "its machine leaves target " + target_});
        if (machine.force) give_up_parts(core_, *node, "");
      }
      if (is_busy(name) || !machine.failure) continue;
      if (!machine.reached && core_.machines.untouched.count({target_, name}) != 0)
        end_machine(core_, target_, name, "it was never reached, so nothing is installed there");
      else if (machine.force && machine.failure->removing)
        end_machine(core_, target_, name,
                    fmt::format("forgotten by force, because it could not be removed ({}: {}); an "
                                "agent may still be there",
                                machine.failure->step, machine.failure->message));
    }
  }

  bool may_remove(const Machine& machine) const {
    const Node* node = node_of(machine);
    return machine.phase == Machine::Phase::leaving && (node == nullptr || node->parts.empty());
  }
  bool must_create(const std::string& name, const Machine& machine) const {
    if (machine.phase == Machine::Phase::leaving) return false;
    const Node* node = node_of(machine);
    if (node == nullptr || core_.machines.refresh.count({target_, name}) != 0) return true;
    if (!node->lost) return false;
    const auto revival = core_.machines.revivals.find({target_, name});
    return revival == core_.machines.revivals.end() || revival->second.not_before <= core_.now;
  }

  void call_provider(const Compute& compute) {
    if (core_.stopping) return;
    CallProvider create{0, target_, ProviderVerb::create, {}};
    CallProvider remove{0, target_, ProviderVerb::remove, {}};
    for (const auto& [name, machine] : compute.machines) {
      const bool asked_for = core_.machines.refresh.count({target_, name}) != 0;
      if (is_busy(name) || (machine.not_before > core_.now && !asked_for)) continue;
      const bool creates = must_create(name, machine), removes = may_remove(machine);
      // One that failed before is called alone: it must not hold up the others again.
      if (machine.failure && creates)
        begin({0, target_, ProviderVerb::create, {name}});
      else if (machine.failure && removes)
        begin({0, target_, ProviderVerb::remove, {name}});
      else if (creates)
        create.machines.push_back(name);
      else if (removes)
        remove.machines.push_back(name);
    }
    begin(std::move(create));
    begin(std::move(remove));
  }

  void begin(CallProvider call) {
    if (call.machines.empty()) return;
    MachineCalls& all = core_.machines;
    call.call = ++all.last;
    std::set<std::string> machines(call.machines.begin(), call.machines.end());
    for (const std::string& name : machines) {
      all.busy[{target_, name}] = call.call;
      all.refresh.erase({target_, name});
      if (call.verb == ProviderVerb::create) all.untouched.erase({target_, name});
    }
    all.calls[call.call] = {target_, call.verb, machines, machines};
    core_.act(std::move(call));
  }

  // The rules are applied again when the first back-off is over.
  void arm_timer(const Compute& compute) {
    Instant due = Instant::never();
    for (const auto& [name, machine] : compute.machines) {
      if (is_busy(name)) continue;
      if (machine.not_before > core_.now) due = std::min(due, machine.not_before);
      const auto revival = core_.machines.revivals.find({target_, name});
      const Node* node = node_of(machine);
      if (node != nullptr && node->lost && revival != core_.machines.revivals.end() &&
          revival->second.not_before > core_.now)
        due = std::min(due, revival->second.not_before);
    }
    const TimerKey key{TimerKey::Kind::machines, {}, {}, target_};
    if (due == Instant::never())
      core_.retries.clear(key);
    else
      core_.retries.set(key, due);
  }

  void hold(const Compute* compute) {
    std::vector<std::string> held;
    if (compute != nullptr)
      for (const auto& [name, machine] : compute->machines) {
        const auto tunnel = machine.about.find("tunnel");
        if (tunnel != machine.about.end() && tunnel->second == "true") held.push_back(name);
      }
    auto known = core_.machines.held.find(target_);
    if (known == core_.machines.held.end()) {
      if (held.empty()) return;
    } else if (known->second == held) {
      return;
    }
    if (held.empty())
      core_.machines.held.erase(target_);
    else
      core_.machines.held[target_] = held;
    core_.act(HoldMachines{target_, std::move(held)});
  }

  Context& core_;
  const std::string target_;
};

// ---- what a provider says
// ------------------------------------------------------------------------

void take_running(Context& core, const std::string& target, const ProviderEvent& event) {
  const Machine* machine = core.state.computes().find_machine(target, event.machine);
  if (machine == nullptr) return;
  const bool is_news =
      machine->phase == Machine::Phase::wanted || machine->failure || machine->about != event.about;
  const NodeId id = machine->node;
  if (is_news) core.emit(MachineCreated{target, event.machine, event.about});
  const Node* node = id.value == 0 ? nullptr : core.state.node(id);
  if (node == nullptr || !node->lost) return;
  MachineCalls::Revival& revival = core.machines.revivals[{target, event.machine}];
  revival.not_before = core.now + std::max<Duration>(backoff_after(revival.attempts), minutes(1));
  ++revival.attempts;
}

}  // namespace

void advance_machines(Context& core, const std::string& target) { TargetRules(core, target).run(); }

void react(Context& core, const ProviderTokensInput& input) {
  const auto call = core.machines.calls.find(input.call);
  if (call == core.machines.calls.end()) return;
  for (const auto& [machine, hash] : input.secret_hashes) {
    if (call->second.machines.count(machine) == 0) continue;
    forget_tokens(core, call->second.target, machine);
    core.emit(TokenCreated{hash, input.expires, 1, Approval::waived, call->second.target, machine});
  }
  core.act(StartProvider{input.call});
}

namespace {

// The machine has its result: another call may begin for it while this one goes on with others.
void release(Context& core, const MachineCalls::Call& call, const std::string& name) {
  const Key key{call.target, name};
  core.machines.busy.erase(key);
  core.machines.steps.erase(key);
  if (call.verb == ProviderVerb::create) forget_tokens(core, call.target, name);
  core.pending.dirty_targets.insert(call.target);
}

void expect_joined(Context& core, const std::string& target, const std::string& name) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr || machine->node.value != 0) return;
  fail_machine(core, target, name,
               {"join", "launcher_unreachable",
                "the provider says that it runs, but its agent has not joined", false});
}

}  // namespace

void react(Context& core, const ProviderEventInput& input) {
  const auto found = core.machines.calls.find(input.call);
  if (found == core.machines.calls.end()) return;
  MachineCalls::Call& call = found->second;
  const ProviderEvent& event = input.event;
  if (call.open.count(event.machine) == 0) return;
  const bool is_create = call.verb == ProviderVerb::create;
  switch (event.kind) {
    case ProviderEvent::Kind::step:
      core.machines.steps[{call.target, event.machine}] = event.step;
      return;
    case ProviderEvent::Kind::warning: return;
    case ProviderEvent::Kind::running:
      if (!is_create) return;
      take_running(core, call.target, event);
      expect_joined(core, call.target, event.machine);
      break;
    case ProviderEvent::Kind::absent:
      if (is_create) return;
      end_machine(core, call.target, event.machine, "the provider removed it");
      break;
    case ProviderEvent::Kind::error:
      fail_machine(core, call.target, event.machine,
                   {event.step, event.code, event.message, !is_create});
      break;
  }
  call.open.erase(event.machine);
  release(core, call, event.machine);
}

void react(Context& core, const ProviderEndedInput& input) {
  const auto found = core.machines.calls.find(input.call);
  if (found == core.machines.calls.end()) return;
  const MachineCalls::Call call = std::move(found->second);
  core.machines.calls.erase(found);
  for (const std::string& name : call.open) {
    const auto step = core.machines.steps.find({call.target, name});
    const bool has_begun = step != core.machines.steps.end();
    fail_machine(core, call.target, name,
                 {has_begun ? step->second : std::string(kCallStep), input.code, input.why,
                  call.verb == ProviderVerb::remove});
    release(core, call, name);
  }
}

MachineView view_of(const Context& core, const std::string& target, const std::string& name,
                    const Machine& machine) {
  MachineView view;
  view.name = name;
  view.why = machine.why;
  view.since = machine.since;
  view.about = machine.about;
  const Key key{target, name};
  const bool busy = core.machines.busy.count(key) != 0;
  const auto step = core.machines.steps.find(key);
  if (busy) view.step = step == core.machines.steps.end() ? kFirstMachineStep : step->second;
  const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
  if (node != nullptr) view.node = node->name;
  if (machine.phase == Machine::Phase::leaving)
    view.state = busy ? "removing" : "leaving";
  else if (node != nullptr)
    view.state = node->lost ? "lost" : "joined";
  else if (busy)
    view.state = "creating";
  else
    view.state = machine.failure                            ? "failed"
                 : machine.phase == Machine::Phase::created ? "created"
                                                            : "wanted";
  if (machine.failure) {
    view.failed_step = machine.failure->step;
    view.failed_code = machine.failure->code;
    view.failure = machine.failure->message;
    view.failures = machine.failures;
    if (!busy) view.retry_at = machine.not_before;
  }
  return view;
}

}  // namespace lockstep::launcher
