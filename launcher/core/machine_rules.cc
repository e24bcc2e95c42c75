#include "launcher/core/machine_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "launcher/core/instances.h"
#include "launcher/core/nodes.h"
#include "launcher/core/scaling.h"

namespace lockstep::launcher {

namespace {

using Key = MachineCalls::Key;

// The failures after which a person has to change something before a call can succeed.
bool needs_a_person(const std::string& code) {
  static const std::set<std::string> kCodes{"host_key", "unauthenticated", "unsupported",
                                            "conflict"};
  return kCodes.count(code) != 0;
}

// At most so long after, `create` asks again for a machine that the provider accepted and has not
// made yet.
constexpr Duration kAskAgain = seconds(10);
// How long a machine that runs may take until its agent joins: a VM boots, and fetches the bundle.
constexpr Duration kJoinWithin = minutes(15);
// How often a target's provider lists what it made.
constexpr Duration kListEvery = minutes(10);
constexpr std::size_t kMaxFoundBeside = 20;       // machines of one list, beside max_instances
constexpr std::size_t kMaxMachineNameBytes = 63;  // it becomes a node's name

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
  const Compute& compute = *core.state.computes().find(target);
  const bool is_of_target = is_elastic(compute.spec) && !failure.removing;
  // Failures of one moment count once.
  const int before = compute.failures - (compute.not_before > core.now ? 1 : 0);
  const int failures = is_of_target ? before : machine->failures;
  // Another host may be fine; another machine of a kind will not be.
  const bool is_of_host = is_of_target && compute.spec.source == NodeSource::ssh;
  const Duration wait = needs_a_person(failure.code) && !is_of_host ? kLongestMachineBackoff
                                                                    : backoff_after(failures);
  if (!failure.removing && is_before_install(failure.step))
    core.machines.untouched.insert({target, name});
  core.emit(MachineFailed{target, name, std::move(failure.step), std::move(failure.code),
                          std::move(failure.message), core.now + wait, failure.removing});
}

// Our own providers say that a machine runs when its agent has joined; a site's when the machine
// was started.
bool joins_later(const ComputeSpec& spec) { return spec.source == NodeSource::command; }

bool must_still_join(const ComputeSpec& spec, const Machine& machine) {
  return joins_later(spec) && machine.phase == Machine::Phase::created && machine.node.value == 0 &&
         !machine.failure;
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
  core.machines.waiting.erase({target, name});
  core.machines.idle_since.erase({target, name});
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
      advance_instance(core_, target_);
      give_up_waiting(*compute);
      scale(core_, target_);
      prepare_leaving(*compute);
      call_provider(*compute);
      list(*compute);
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
    if (compute.leaving || is_elastic(compute.spec)) return;
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
    const bool all_stay = !compute.leaving && compute.spec.source != NodeSource::ssh;
    std::vector<std::string> unwanted;
    for (const auto& [name, machine] : compute.machines)
      if (machine.phase != Machine::Phase::leaving && !all_stay && hosts.count(name) == 0)
        unwanted.push_back(name);
    for (std::string& name : unwanted)
      core_.emit(MachineLeaving{
          target_, std::move(name),
          compute.leaving ? "the target is being deleted" : "it is no longer a host of the target",
          compute.leaving && compute.leaving->force});
  }

  // A machine that does not join in time is a failed one.
  void give_up_waiting(const Compute& compute) {
    std::vector<std::string> late;
    for (const auto& [name, machine] : compute.machines)
      if (must_still_join(compute.spec, machine) && machine.since + kJoinWithin <= core_.now)
        late.push_back(name);
    for (const std::string& name : late)
      fail_machine(core_, target_, name,
                   {"join", "launcher_unreachable",
                    fmt::format("it has run for {} and its agent has not joined; look whether the "
                                "agent starts there, and reaches the launcher",
                                format_duration(kJoinWithin)),
                    false});
  }

  // Drains the nodes of leaving machines, and ends machines that no call has to remove.
  void prepare_leaving(const Compute& compute) {
    std::vector<std::string> leaving;
    for (const auto& [name, machine] : compute.machines)
      if (machine.phase == Machine::Phase::leaving) leaving.push_back(name);
    for (const std::string& name : leaving) {
      const Machine machine = compute.machines.at(name);
      if (const Node* node = node_of(machine)) {
        if (!node->drain)
          core_.emit(NodeDrainChanged{node->id, true, "its machine leaves target " + target_});
        if (machine.force) give_up_parts(core_, *node, "its machine was removed by force");
      }
      if (machine.force) stop_creation(compute, name);
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

  // A `create` that hangs must not hold up a removal by force. It goes on while one of its machines
  // is wanted.
  void stop_creation(const Compute& compute, const std::string& name) {
    const auto busy = core_.machines.busy.find({target_, name});
    if (busy == core_.machines.busy.end()) return;
    MachineCalls::Call& call = core_.machines.calls.at(busy->second);
    if (call.verb != ProviderVerb::create || call.is_stopping) return;
    for (const std::string& other : call.open) {
      const auto machine = compute.machines.find(other);
      if (machine != compute.machines.end() && machine->second.phase != Machine::Phase::leaving)
        return;
    }
    call.is_stopping = true;
    core_.act(StopProvider{busy->second});
  }

  bool may_remove(const Machine& machine) const {
    const Node* node = node_of(machine);
    return machine.phase == Machine::Phase::leaving && (node == nullptr || node->parts.empty());
  }
  bool must_create(const ComputeSpec& spec, const std::string& name, const Machine& machine) const {
    if (machine.phase == Machine::Phase::leaving) return false;
    const Node* node = node_of(machine);
    if (core_.machines.refresh.count({target_, name}) != 0) return true;
    if (node == nullptr) return !must_still_join(spec, machine);
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
      if (is_busy(name) || (due_at(name, machine) > core_.now && !asked_for)) continue;
      const bool creates = must_create(compute.spec, name, machine), removes = may_remove(machine);
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

  // When the next call for the machine may begin.
  Instant due_at(const std::string& name, const Machine& machine) const {
    const auto waiting = core_.machines.waiting.find({target_, name});
    const bool is_waiting =
        waiting != core_.machines.waiting.end() && machine.phase != Machine::Phase::leaving;
    return is_waiting ? std::max(machine.not_before, waiting->second.not_before)
                      : machine.not_before;
  }

  // What a launcher forgot (its home was restored from a backup, a machine was given up by force)
  // is found in its provider's list.
  void list(const Compute& compute) {
    MachineCalls& all = core_.machines;
    if (core_.stopping || !is_elastic(compute.spec) || compute.spec.source == NodeSource::ssh ||
        all.listing.count(target_) != 0)
      return;
    const auto due = all.list_at.try_emplace(target_, core_.now).first;
    if (due->second == Instant::never() && !compute.machines.empty())
      due->second = core_.now + kListEvery;
    if (due->second > core_.now) return;
    const std::uint64_t call = ++all.last;
    all.listing[target_] = call;
    all.calls[call] = {target_, ProviderVerb::list, {}, {}};
    core_.act(CallProvider{call, target_, ProviderVerb::list, {}});
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
      if (must_still_join(compute.spec, machine)) due = std::min(due, machine.since + kJoinWithin);
      if (const Instant next = due_at(name, machine); next > core_.now) due = std::min(due, next);
      const auto revival = core_.machines.revivals.find({target_, name});
      const Node* node = node_of(machine);
      if (node != nullptr && node->lost && revival != core_.machines.revivals.end() &&
          revival->second.not_before > core_.now)
        due = std::min(due, revival->second.not_before);
    }
    due = std::min({due, next_scaling(core_, target_), next_instance_change(core_, target_)});
    const auto list_at = core_.machines.list_at.find(target_);
    if (list_at != core_.machines.list_at.end() && list_at->second > core_.now)
      due = std::min(due, list_at->second);
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
    if (call->second.machines.count(machine) == 0 || core.state.tokens().count(hash) != 0) continue;
    const Compute* compute = core.state.computes().find(call->second.target);
    // A machine that was ordered by an earlier call has that call's token.
    if (compute == nullptr || !joins_later(compute->spec))
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
  // What is made later joins with a token that it has already.
  const Compute* compute = core.state.computes().find(call.target);
  const Machine* machine = core.state.computes().find_machine(call.target, name);
  const bool may_join = core.machines.waiting.count(key) != 0 ||
                        (machine != nullptr && must_still_join(compute->spec, *machine));
  if (call.verb == ProviderVerb::create && !may_join) forget_tokens(core, call.target, name);
  core.pending.dirty_targets.insert(call.target);
}

// Asks again later; until then `reason` says why the machine is not there.
void wait_for(Context& core, const std::string& target, const ProviderEvent& event) {
  const auto reason = event.about.find("reason");
  // At the same moment for all, so that one call asks for many.
  const std::int64_t step = Duration(kAskAgain).count();
  const Instant due{(core.now.ns / step + 1) * step};
  core.machines.waiting[{target, event.machine}] = {
      reason == event.about.end() ? "" : reason->second, due};
  core.scheduler.topology_changed(target);
}

// A provider's list is not trusted: these become names of nodes and words of its next calls.
bool is_machine_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxMachineNameBytes && name[0] != '-' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

// Those that the launcher does not know are kept until the list has ended, so that one call removes
// them all; no more of them than a target has after a few mishaps.
void take_listed(const Context& core, MachineCalls::Call& call, const ProviderEvent& event) {
  const bool is_there = event.kind == ProviderEvent::Kind::running ||
                        event.kind == ProviderEvent::Kind::pending ||
                        event.kind == ProviderEvent::Kind::error;
  const Compute* compute = core.state.computes().find(call.target);
  if (!is_there || compute == nullptr || !is_machine_name(event.machine)) return;
  const auto most = static_cast<std::size_t>(most_machines(compute->spec)) + kMaxFoundBeside;
  if (compute->machines.count(event.machine) == 0 && call.open.size() < most)
    call.open.insert(event.machine);
}

void end_list(Context& core, const MachineCalls::Call& call) {
  core.machines.listing.erase(call.target);
  const Compute* compute = core.state.computes().find(call.target);
  if (compute == nullptr) return;
  for (const std::string& name : call.open)
    if (compute->machines.count(name) == 0) core.emit(MachineFound{call.target, name});
  core.machines.list_at[call.target] =
      compute->machines.empty() ? Instant::never() : core.now + kListEvery;
  core.pending.dirty_targets.insert(call.target);
}

void expect_joined(Context& core, const std::string& target, const std::string& name) {
  const Machine* machine = core.state.computes().find_machine(target, name);
  if (machine == nullptr || machine->node.value != 0) return;
  if (joins_later(core.state.computes().find(target)->spec)) return;
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
  if (call.verb == ProviderVerb::list) return take_listed(core, call, event);
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
    case ProviderEvent::Kind::pending:
      if (!is_create) return;
      wait_for(core, call.target, event);
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
  if (event.kind != ProviderEvent::Kind::pending)
    core.machines.waiting.erase({call.target, event.machine});
  call.open.erase(event.machine);
  release(core, call, event.machine);
}

void react(Context& core, const ProviderEndedInput& input) {
  const auto found = core.machines.calls.find(input.call);
  if (found == core.machines.calls.end()) return;
  const MachineCalls::Call call = std::move(found->second);
  core.machines.calls.erase(found);
  if (call.verb == ProviderVerb::list) return end_list(core, call);
  for (const std::string& name : call.open) {
    core.machines.waiting.erase({call.target, name});
    const auto step = core.machines.steps.find({call.target, name});
    const bool has_begun = step != core.machines.steps.end();
    fail_machine(core, call.target, name,
                 {has_begun ? step->second : std::string(kCallStep), input.code, input.why,
                  call.verb == ProviderVerb::remove});
    release(core, call, name);
  }
}

namespace {

bool is_being_removed(const Context& core, const Key& key) {
  const auto call = core.machines.calls.find(core.machines.busy.at(key));
  return call != core.machines.calls.end() && call->second.verb == ProviderVerb::remove;
}

}  // namespace

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
  const auto waiting = core.machines.waiting.find(key);
  if (waiting != core.machines.waiting.end() && !waiting->second.reason.empty())
    view.about["reason"] = waiting->second.reason;
  if (busy) view.step = step == core.machines.steps.end() ? kFirstMachineStep : step->second;
  const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
  if (node != nullptr) view.node = node->name;
  if (node != nullptr)
    if (const std::string* lacks = core.watches.shortfall_of(node->id))
      view.about["reason"] = *lacks;
  if (machine.phase == Machine::Phase::leaving)
    view.state = busy && is_being_removed(core, key) ? "removing" : "leaving";
  else if (node != nullptr)
    view.state = node->lost ? "lost" : "joined";
  else if (waiting != core.machines.waiting.end())
    view.state = "pending";
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
