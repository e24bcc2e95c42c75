#include "launcher/state/targets/computes.h"

#include <algorithm>
#include <charconv>

#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/providers.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {
namespace {

// The number in "TARGET-17"; nullopt for the names of hosts.
std::optional<std::int64_t> number_in(const std::string& target, const std::string& machine) {
  if (!machine.starts_with(target + "-")) return std::nullopt;
  const char* begin = machine.data() + target.size() + 1;
  const char* end = machine.data() + machine.size();
  std::int64_t number = 0;
  const auto [last, error] = std::from_chars(begin, end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string target_of(const JobSpec& spec) {
  return spec.compute.empty() ? std::string(kLocalCompute) : spec.compute;
}

bool is_off(const Compute& compute) {
  return compute.instance && compute.instance->power == Instance::Power::off;
}

const Compute* Computes::find(const std::string& name) const {
  const auto found = computes_.find(name);
  return found == computes_.end() ? nullptr : &found->second;
}

const Machine* Computes::find_machine(const std::string& target, const std::string& name) const {
  const Compute* compute = find(target);
  if (compute == nullptr) return nullptr;
  const auto found = compute->machines.find(name);
  return found == compute->machines.end() ? nullptr : &found->second;
}

const SshHost* Computes::host_of(const std::string& target, const std::string& machine) const {
  const Compute* compute = find(target);
  if (compute == nullptr) return nullptr;
  if (const auto former = compute->former_hosts.find(machine);
      former != compute->former_hosts.end())
    return &former->second;
  const auto& hosts = compute->spec.hosts;
  const auto named = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const SshHost& host) { return host.name == machine; });
  return named == hosts.end() ? nullptr : &*named;
}

Machine* Computes::machine(const std::string& target, const std::string& name) {
  return const_cast<Machine*>(find_machine(target, name));
}

void Computes::record(Instant at, const std::string& target, const std::string& machine, Why what) {
  const auto found = computes_.find(target);
  if (found == computes_.end()) return;
  std::vector<ComputeEvent>& history = found->second.history;
  if (history.size() >= kMaxComputeEvents) history.erase(history.begin());
  history.push_back({at, machine, "", std::move(what)});
}

bool Computes::has(const std::string& name) const {
  return name == kLocalCompute || find(name) != nullptr;
}

std::string Computes::pool_of(const std::string& target) const {
  const Compute* compute = find(target);
  if (target.empty()) return std::string(kLocalCompute);
  if (compute == nullptr) return target;
  switch (compute->spec.type) {
    case ComputeType::local: return std::string(kLocalCompute);
    case ComputeType::virtualmachine:
    case ComputeType::amlcompute:
    case ComputeType::kubernetes:
    case ComputeType::computeinstance: return target;
  }
  return target;
}

const std::set<NodeId>& Computes::nodes_of(const std::string& pool) const {
  static const std::set<NodeId> kNone;
  const auto found = nodes_.find(pool);
  return found == nodes_.end() ? kNone : found->second;
}

ComputeLoad Computes::load_of(const std::string& target) const {
  const auto found = loads_.find(target);
  return found == loads_.end() ? ComputeLoad{} : found->second;
}

void Computes::apply(Instant at, const ComputeCreated& fact) {
  Compute compute;
  compute.spec = fact.spec;
  compute.created = at;
  compute.by = fact.by;
  if (is_instance(fact.spec))
    compute.instance =
        Instance{Instance::Power::on, at, InstanceCause::user, InstanceByUser{fact.by}, at, at};
  computes_[fact.spec.name] = std::move(compute);
  record(at, fact.spec.name, "", TargetWasCreated{fact.by});
}

void Computes::apply(Instant at, const ComputeUpdated& fact) {
  const auto found = computes_.find(fact.spec.name);
  if (found == computes_.end()) return;
  Compute& compute = found->second;
  compute.lifetime = {};
  for (SshHost& host : compute.spec.hosts) {
    const bool stays = std::any_of(fact.spec.hosts.begin(), fact.spec.hosts.end(),
                                   [&](const SshHost& one) { return one.name == host.name; });
    // If a host is removed a second time while its machine still leaves, the host that was named
    // first is the one to reach.
    if (!stays && compute.machines.count(host.name) != 0)
      compute.former_hosts.try_emplace(host.name, std::move(host));
  }
  // Unchanged schedules also count for times that were missed.
  if (compute.instance && compute.spec.instance.schedules != fact.spec.instance.schedules)
    compute.instance->scheduled = compute.instance->seen = at;
  for (const SshHost& host : fact.spec.hosts) {
    const auto before = std::find_if(compute.spec.hosts.begin(), compute.spec.hosts.end(),
                                     [&](const SshHost& one) { return one.name == host.name; });
    const bool is_changed = before != compute.spec.hosts.end() && !(*before == host);
    if (Machine* const known = is_changed ? machine(fact.spec.name, host.name) : nullptr)
      known->not_before = {};
  }
  compute.spec = fact.spec;
  // A person may have removed what made machines fail, so the next one is tried at once.
  compute.failures = 0;
  compute.not_before = {};
  record(at, fact.spec.name, "", TargetWasChanged{fact.by});
}

void Computes::apply(Instant at, const ComputeLeaving& fact) {
  const auto found = computes_.find(fact.name);
  if (found == computes_.end()) return;
  found->second.leaving = Compute::Leaving{fact.by, fact.force};
  record(at, fact.name, "", TargetIsDeletedBy{fact.by});
}

void Computes::switch_instance(Instant at, const std::string& target, Instance::Power power,
                               InstanceCause cause, const Why& why) {
  const auto found = computes_.find(target);
  if (found == computes_.end() || !found->second.instance) return;
  Instance& instance = *found->second.instance;
  instance.power = power;
  instance.changed = instance.seen = at;
  instance.cause = cause;
  instance.why = why;
  switch (power) {
    case Instance::Power::on: return record(at, target, "", InstanceStartedSo{why});
    case Instance::Power::off: return record(at, target, "", InstanceStoppedSo{why});
  }
}

void Computes::apply(Instant at, const InstanceStarted& fact) {
  switch_instance(at, fact.target, Instance::Power::on, fact.cause, fact.why);
}

void Computes::apply(Instant at, const InstanceStopped& fact) {
  switch_instance(at, fact.target, Instance::Power::off, fact.cause, fact.why);
}

void Computes::apply(Instant at, const MachineWanted& fact) {
  const auto found = computes_.find(fact.target);
  if (found == computes_.end()) return;
  Machine machine;
  machine.since = at;
  machine.why = fact.why;
  Compute& compute = found->second;
  compute.machines[fact.machine] = std::move(machine);
  if (const auto number = number_in(fact.target, fact.machine))
    compute.last_machine = std::max(compute.last_machine, *number);
  compute.scaled = at;
  compute.scaled_why = ScaledUp{fact.machine, fact.why};
  record(at, fact.target, fact.machine, MachineWasWanted{fact.why});
}

void Computes::apply(Instant at, const MachineFound& fact) {
  const auto found = computes_.find(fact.target);
  if (found == computes_.end()) return;
  Machine machine;
  machine.phase = Machine::Leaving{};
  machine.since = at;
  machine.why = MachineNotKnown{};
  machine.reached = true;
  found->second.machines[fact.machine] = std::move(machine);
  record(at, fact.target, fact.machine, MachineWasFound{});
}

void Computes::keep_labels(const std::string& target, const std::string& machine,
                           const NodeLabels& labels) {
  const auto found = computes_.find(target);
  if (found == computes_.end() || found->second.spec.source != NodeSource::ssh) return;
  if (labels.empty())
    found->second.labels_of_hosts.erase(machine);
  else
    found->second.labels_of_hosts[machine] = labels;
}

NodeLabels Computes::kept_labels(const std::string& target, const std::string& machine) const {
  const Compute* compute = find(target);
  if (compute == nullptr) return {};
  const auto kept = compute->labels_of_hosts.find(machine);
  return kept == compute->labels_of_hosts.end() ? NodeLabels() : kept->second;
}

void Computes::apply(Instant at, const MachineCreated& fact) {
  Machine* known = machine(fact.target, fact.machine);
  if (known == nullptr) return;
  if (known->is_wanted()) {
    known->phase = Machine::Created{};
    known->since = at;
  }
  known->about = fact.about;
  known->lifetime = fact.lifetime;
  known->ends = fact.ends;
  known->is_held = fact.is_held;
  computes_.at(fact.target).lifetime = fact.lifetime;
  known->reached = true;
  known->failure.reset();
  known->not_before = {};
  // A machine that runs but has not joined may be unusable: the back-off continues until one joins.
  if (known->node.value != 0) note_success(fact.target, fact.machine);
  record(at, fact.target, fact.machine, MachineWasCreated{});
}

void Computes::apply(Instant at, const MachineFailed& fact) {
  Machine* known = machine(fact.target, fact.machine);
  if (known == nullptr) return;
  known->failure =
      Machine::Failure{fact.step, fact.fault, fact.why, fact.removing, known->failures() + 1};
  known->not_before = fact.not_before;
  const bool is_sure = fact.step != kCallStep && !fact.removing;
  if (is_sure && !is_before_install(fact.step)) known->reached = true;
  if (!fact.removing) note_failure(at, fact);
  record(at, fact.target, fact.machine,
         MachineHasFailed{MachineStepFailed{fact.step, fact.fault, fact.why}});
}

void Computes::note_success(const std::string& target, const std::string& machine) {
  Compute& compute = computes_.at(target);
  std::erase(compute.avoided, machine);
  compute.failure = {};
  compute.failures = 0;
  compute.not_before = {};
}

// Counts a failure. Failures at the same moment count as one.
void Computes::note_failure(Instant at, const MachineFailed& fact) {
  Compute& compute = computes_.at(fact.target);
  if (!is_elastic(compute.spec)) return;
  if (at >= compute.not_before) ++compute.failures;
  compute.not_before = std::max(compute.not_before, fact.not_before);
  compute.failure = MachineStepFailed{fact.step, fact.fault, fact.why};
  // Only hosts get the same name again; machines that are made get new names.
  if (compute.spec.source != NodeSource::ssh) return;
  std::erase(compute.avoided, fact.machine);
  compute.avoided.push_back(fact.machine);
}

void Computes::apply(Instant at, const MachineLeaving& fact) {
  Machine* known = machine(fact.target, fact.machine);
  if (known == nullptr) return;
  if (!known->is_leaving()) known->since = at;
  known->phase = Machine::Leaving{fact.force};
  known->why = fact.why;
  Compute& compute = computes_.at(fact.target);
  compute.scaled = at;
  compute.scaled_why = ScaledDown{fact.machine, fact.why};
  if (known->reached) known->failure.reset();
  if (known->failure) known->failure->in_a_row = 0;
  known->not_before = {};
  record(at, fact.target, fact.machine, MachineLeavesSo{fact.why});
}

void Computes::apply(Instant at, const MachineGone& fact) {
  const auto found = computes_.find(fact.target);
  if (found == computes_.end()) return;
  found->second.machines.erase(fact.machine);
  found->second.former_hosts.erase(fact.machine);
  record(at, fact.target, fact.machine, MachineWentAway{fact.why});
}

void Computes::machine_joined(Instant at, const std::string& target, const std::string& name,
                              NodeId node) {
  Machine* known = machine(target, name);
  if (known == nullptr) return;
  known->node = node;
  known->reached = true;
  note_success(target, name);
  record(at, target, name, MachineHasJoined{});
}

void Computes::machine_left(Instant at, const std::string& target, const std::string& name,
                            NodeId node) {
  Machine* known = machine(target, name);
  if (known == nullptr || known->node != node) return;
  known->node = {};
  record(at, target, name, MachineNodeRemoved{});
}

void Computes::apply(Instant, const ComputeDeleted& fact) { computes_.erase(fact.name); }

void Computes::remove_node(const std::string& pool, NodeId node) {
  const auto found = nodes_.find(pool);
  if (found == nodes_.end()) return;
  found->second.erase(node);
  if (found->second.empty()) nodes_.erase(found);
}

void Computes::count(const JobSpec& spec, const ComputeLoad& change) {
  const auto entry = loads_.try_emplace(target_of(spec)).first;
  ComputeLoad& load = entry->second;
  load.unfinished += change.unfinished;
  load.queued += change.queued;
  load.running += change.running;
  if (load == ComputeLoad{}) loads_.erase(entry);
}

}  // namespace lockstep::launcher
