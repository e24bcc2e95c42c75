#include "launcher/core/machines/rules.h"

#include <algorithm>
#include <set>

#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/core/machines/changes.h"
#include "launcher/core/machines/instances.h"
#include "launcher/core/machines/life.h"
#include "launcher/core/machines/scaling.h"
#include "launcher/core/nodes/nodes.h"
#include "launcher/core/placement/machine_end.h"

namespace lockstep::launcher {

namespace {

// How long a running machine may take until its agent joins: a VM has to boot and to download the
// bundle.
constexpr Duration kJoinWithin = minutes(15);

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
      leave_ending_machines(core_, target_);
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
  const MachineRecord& record_of(const std::string& name) const {
    return core_.machines.of(target_, name);
  }
  bool is_busy(const std::string& name) const { return record_of(name).work.has_value(); }

  void want(const Compute& compute) {
    if (compute.leaving || is_elastic(compute.spec)) return;
    std::vector<std::string> missing;
    for (const SshHost& host : compute.spec.hosts)
      if (compute.machines.count(host.name) == 0) missing.push_back(host.name);
    for (std::string& name : missing)
      core_.emit(MachineWanted{target_, std::move(name), HostOfTarget{}});
  }

  void dismiss(const Compute& compute) {
    std::set<std::string> hosts;
    if (!compute.leaving)
      for (const SshHost& host : compute.spec.hosts) hosts.insert(host.name);
    const bool all_stay = !compute.leaving && compute.spec.source != NodeSource::ssh;
    std::vector<std::string> unwanted;
    for (const auto& [name, machine] : compute.machines)
      if (!machine.is_leaving() && !all_stay && hosts.count(name) == 0) unwanted.push_back(name);
    for (std::string& name : unwanted)
      core_.emit(MachineLeaving{target_, std::move(name),
                                compute.leaving ? Why(TargetDeleted{}) : Why(HostNotOfTarget{}),
                                compute.leaving && compute.leaving->force});
  }

  // Marks a machine as failed whose agent does not join in time.
  void give_up_waiting(const Compute& compute) {
    std::vector<std::string> late;
    for (const auto& [name, machine] : compute.machines)
      if (must_still_join(compute.spec, machine) && machine.since + kJoinWithin <= core_.now)
        late.push_back(name);
    for (const std::string& name : late)
      fail_machine(core_, target_, name,
                   {std::string(kJoinStep), MachineFault::launcher_unreachable,
                    MachineNotJoinedWithin{kJoinWithin}});
  }

  // Drains the nodes of leaving machines, and ends machines that no call has to remove.
  void prepare_leaving(const Compute& compute) {
    std::vector<std::string> leaving;
    for (const auto& [name, machine] : compute.machines)
      if (machine.is_leaving()) leaving.push_back(name);
    for (const std::string& name : leaving) {
      const Machine machine = compute.machines.at(name);
      if (const Node* node = node_of(machine)) {
        if (!node->drain)
          core_.emit(NodeDrainChanged{node->id, true, "its machine leaves target " + target_});
        if (machine.is_forced()) give_up_parts(core_, *node, MachineForced{});
      }
      if (machine.is_forced()) stop_creation(compute, name);
      if (is_busy(name) || !machine.failure) continue;
      if (!machine.reached && record_of(name).is_untouched)
        end_machine(core_, target_, name, MachineNeverReached{});
      else if (machine.is_forced() && machine.failure->removing)
        end_machine(core_, target_, name, MachineForgotten{why_failed(*machine.failure)});
    }
  }

  // Stops a `create` that would delay a removal by force. The call continues if one of its other
  // machines is wanted.
  void stop_creation(const Compute& compute, const std::string& name) {
    const auto& work = record_of(name).work;
    if (!work) return;
    MachineCalls::Call& call = core_.machines.calls.at(work->call);
    if (call.verb != ProviderVerb::create || call.is_stopping) return;
    for (const std::string& other : call.open) {
      const auto machine = compute.machines.find(other);
      if (machine != compute.machines.end() && !machine->second.is_leaving()) return;
    }
    call.is_stopping = true;
    core_.act(StopProvider{work->call});
  }

  bool may_remove(const Machine& machine) const {
    const Node* node = node_of(machine);
    return machine.is_leaving() && (node == nullptr || node->parts.empty());
  }
  bool must_create(const ComputeSpec& spec, const std::string& name, const Machine& machine) const {
    if (machine.is_leaving()) return false;
    const Node* node = node_of(machine);
    const MachineRecord& record = record_of(name);
    if (record.must_refresh) return true;
    if (node == nullptr) return !must_still_join(spec, machine);
    return node->lost && record.revival.not_before <= core_.now;
  }

  void call_provider(const Compute& compute) {
    if (core_.stopping) return;
    CallProvider create{0, target_, ProviderVerb::create, {}};
    CallProvider remove{0, target_, ProviderVerb::remove, {}};
    for (const auto& [name, machine] : compute.machines) {
      const bool asked_for = record_of(name).must_refresh;
      if (is_busy(name) || (due_at(name, machine) > core_.now && !asked_for)) continue;
      const bool creates = must_create(compute.spec, name, machine), removes = may_remove(machine);
      // A machine that failed before gets a call of its own, so that it cannot delay the others
      // again.
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

  // The time at which the next call for the machine may begin.
  Instant due_at(const std::string& name, const Machine& machine) const {
    const auto& waiting = record_of(name).waiting;
    const bool is_waiting = waiting && !machine.is_leaving();
    return is_waiting ? std::max(machine.not_before, waiting->not_before) : machine.not_before;
  }

  // Lists the provider's machines. This finds machines that the launcher does not know, because its
  // home was restored from a backup or they were given up by force.
  void list(const Compute& compute) {
    if (core_.stopping || !is_elastic(compute.spec) || compute.spec.source == NodeSource::ssh)
      return;
    MachineCalls& all = core_.machines;
    MachineCalls::Target& target = all.targets[target_];
    if (target.listing) return;
    if (!target.list_at) target.list_at = core_.now;
    if (target.list_at == Instant::never() && !compute.machines.empty())
      target.list_at = core_.now + kListEvery;
    if (target.list_at > core_.now) return;
    const std::uint64_t call = ++all.last;
    target.listing = call;
    all.calls[call] = {target_, ProviderVerb::list, {}, {}};
    core_.act(CallProvider{call, target_, ProviderVerb::list, {}});
  }

  void begin(CallProvider call) {
    if (call.machines.empty()) return;
    MachineCalls& all = core_.machines;
    call.call = ++all.last;
    std::set<std::string> machines(call.machines.begin(), call.machines.end());
    for (const std::string& name : machines) {
      MachineRecord& record = all.record(target_, name);
      record.work = {call.call, {}};
      record.must_refresh = false;
      if (call.verb == ProviderVerb::create) record.is_untouched = false;
    }
    all.calls[call.call] = {target_, call.verb, machines, machines};
    core_.act(std::move(call));
  }

  // Arms the timer: the rules are applied again when the first back-off is over.
  void arm_timer(const Compute& compute) {
    Instant due = Instant::never();
    for (const auto& [name, machine] : compute.machines) {
      if (is_busy(name)) continue;
      if (must_still_join(compute.spec, machine)) due = std::min(due, machine.since + kJoinWithin);
      if (const Instant next = due_at(name, machine); next > core_.now) due = std::min(due, next);
      const Instant revival = record_of(name).revival.not_before;
      const Node* node = node_of(machine);
      if (node != nullptr && node->lost && revival > core_.now) due = std::min(due, revival);
    }
    due = std::min({due, next_scaling(core_, target_), next_instance_change(core_, target_),
                    next_end(compute, core_.now)});
    const auto known = core_.machines.targets.find(target_);
    const auto list_at =
        known == core_.machines.targets.end() ? std::nullopt : known->second.list_at;
    if (list_at > core_.now) due = std::min(due, *list_at);
    const TimerKey key{TimerKey::Kind::machines, {}, {}, target_};
    if (due == Instant::never())
      core_.retries.clear(key);
    else
      core_.retries.set(key, due);
  }

  void hold(const Compute* compute) {
    std::vector<std::string> held;
    if (compute != nullptr)
      for (const auto& [name, machine] : compute->machines)
        if (machine.is_held) held.push_back(name);
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

}  // namespace

void advance_machines(Context& core, const std::string& target) { TargetRules(core, target).run(); }

}  // namespace lockstep::launcher
