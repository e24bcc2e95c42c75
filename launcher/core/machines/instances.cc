#include "launcher/core/machines/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/core/access/users.h"
#include "launcher/core/base/next_fire.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/machines/scaling.h"
#include "launcher/core/nodes/nodes.h"
#include "launcher/core/placement/instance_off.h"

namespace lockstep::launcher {
namespace {

std::string local_text(const CoreConfig& config, const Firing& firing) {
  const std::string zone = zone_of(firing.schedule->trigger);
  return fmt::format("{} {}", to_string(zones_of(config).local(zone, firing.at)), zone);
}

void run_schedules(Context& core, const std::string& target, const Compute& compute) {
  const Instance& instance = *compute.instance;
  Instant& seen = core.machines.targets[target].schedules_seen;
  seen = std::max(seen, instance.seen);
  std::optional<Firing> last;
  for (const InstanceSchedule& schedule : compute.spec.instance.schedules) {
    if (!schedule.enabled || seen >= core.now) continue;
    const auto at =
        last_fire(schedule.trigger, instance.scheduled, seen, core.now, zones_of(core.config));
    if (at && (!last || *at >= last->at)) last = Firing{*at, &schedule};
  }
  seen = std::max(seen, core.now);
  if (!last) return;
  const bool is_on = instance.power == Instance::Power::on;
  const Why why = InstanceBySchedule{times_of(last->schedule->trigger)};
  switch (last->schedule->action) {
    case InstanceAction::start:
      if (!is_on) core.emit(InstanceStarted{target, InstanceCause::schedule, why});
      return;
    case InstanceAction::stop:
      if (is_on) core.emit(InstanceStopped{target, InstanceCause::schedule, why});
      return;
  }
}

// Since when the instance's machine has been able to work and has held no part; nullopt: it holds a
// part, or does not exist.
std::optional<Instant> idle_since(const Context& core, const std::string& target,
                                  const Compute& compute) {
  for (const auto& [name, machine] : compute.machines) {
    const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
    const auto& since = core.machines.of(target, name).idle_since;
    if (machine.is_leaving() || node == nullptr || node->lost) continue;
    if (node->parts.empty() && since) return since;
  }
  return std::nullopt;
}

void stop_when_idle(Context& core, const std::string& target, const Compute& compute) {
  const Duration limit = compute.spec.instance.idle_time;
  if (is_off(compute) || limit == Duration::zero()) return;
  if (has_demand(core, target)) {
    for (const auto& [name, machine] : compute.machines)
      core.machines.record(target, name).idle_since.reset();  // scale() then counts from zero
    return;
  }
  const auto since = idle_since(core, target, compute);
  if (since && *since + limit <= core.now)
    core.emit(InstanceStopped{target, InstanceCause::idle, InstanceWasIdle{limit}});
}

std::string state_of(const Context& core, const Compute& compute) {
  if (compute.leaving) return "Deleting";
  if (is_off(compute)) return compute.machines.empty() ? "Stopped" : "Stopping";
  for (const auto& [name, machine] : compute.machines) {
    const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
    if (!machine.is_leaving() && node != nullptr && !node->lost &&
        core.watches.liveness(node->id) == Liveness::alive)
      return "Running";
  }
  return "Starting";
}

struct Asked {
  Context& core;
  const InstanceInput& input;

  void refuse(ErrorCode code, std::string message) const {
    core.refuse(input.reply, code, std::move(message));
  }
  std::string name() const { return name_of(input.caller); }

  // Finds an instance; null: it does not exist, and the request was refused.
  const Compute* instance_called(const std::string& name) const {
    const Compute* known = core.state.computes().find(name);
    if (known == nullptr && name != kLocalCompute) {
      const Error error = no_such_compute(core.state, name);
      refuse(error.code, error.message);
      return nullptr;
    }
    if (known == nullptr || !known->instance) {
      refuse(
          ErrorCode::conflict,
          fmt::format("only a compute instance can be started and stopped; target '{}' is of type "
                      "{}",
                      name, to_string(known == nullptr ? ComputeType::local : known->spec.type)));
      return nullptr;
    }
    if (!known->leaving) return known;
    refuse(ErrorCode::conflict, fmt::format("compute target '{}' is being deleted", name));
    return nullptr;
  }

  std::vector<const Node*> busy_nodes(const std::string& target) const {
    std::vector<const Node*> nodes;
    for (const Node& node : core.state.nodes_of(target))
      if (!node.parts.empty()) nodes.push_back(&node);
    return nodes;
  }

  // Checks that no jobs run on the instance. False: some do, and the request was refused for that.
  bool clear(const std::string& target, bool force, const char* verb) const {
    const std::vector<const Node*> busy = busy_nodes(target);
    if (busy.empty()) return true;
    if (!force) {
      refuse(
          ErrorCode::conflict,
          fmt::format("compute instance '{}' runs job '{}'; wait for it, cancel it, or give it up "
                      "with --force: it goes back to the queue (lockstep compute {} {} --force)",
                      target, busy.front()->parts.begin()->first.job.value, verb, target));
      return false;
    }
    for (const Node* node : busy)
      give_up_parts(core, *node, InstanceForced{verb, name_of(input.caller)});
    return true;
  }

  void operator()(const StartCompute& ask) const {
    const Compute* known = instance_called(ask.name);
    if (known == nullptr) return;
    if (is_off(*known))
      core.emit(InstanceStarted{ask.name, InstanceCause::user, InstanceByUser{name()}});
    core.act(ReplyCompute{input.reply, ask.name});
  }

  void operator()(const StopCompute& ask) const {
    const Compute* known = instance_called(ask.name);
    if (known == nullptr) return;
    if (is_off(*known) && !ask.force) return core.act(ReplyCompute{input.reply, ask.name});
    if (!clear(ask.name, ask.force, "stop")) return;
    if (!is_off(*known))
      core.emit(InstanceStopped{ask.name, InstanceCause::user, InstanceByUser{name()}});
    core.act(ReplyCompute{input.reply, ask.name});
  }

  void operator()(const RestartCompute& ask) const {
    const Compute* known = instance_called(ask.name);
    if (known == nullptr) return;
    if (is_off(*known))
      return refuse(
          ErrorCode::conflict,
          fmt::format("compute instance '{}' is stopped; `lockstep compute start {}` starts "
                      "it",
                      ask.name, ask.name));
    if (!clear(ask.name, ask.force, "restart")) return;
    std::vector<std::string> machines;
    for (const auto& [name, machine] : known->machines)
      if (!machine.is_leaving()) machines.push_back(name);
    for (std::string& name : machines)
      core.emit(MachineLeaving{ask.name, std::move(name), MachineRestarted{name_of(input.caller)},
                               false});
    core.act(ReplyCompute{input.reply, ask.name});
  }
};

}  // namespace

void react(Context& core, const InstanceInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::operate_computes)) return;
  std::visit(Asked{core, input}, input.ask);
}

void advance_instance(Context& core, const std::string& target) {
  const Compute* compute = instance_of(core.state, target);
  if (compute == nullptr || core.stopping) return;
  run_schedules(core, target, *compute);
  stop_when_idle(core, target, *compute);
}

Instant next_instance_change(const Context& core, const std::string& target) {
  const Compute* compute = instance_of(core.state, target);
  if (compute == nullptr) return Instant::never();
  Instant due = Instant::never();
  if (const auto next = next_firing(core.config, *compute, core.now, [](auto) { return true; }))
    due = next->at;
  const Duration limit = compute->spec.instance.idle_time;
  const auto since = idle_since(core, target, *compute);
  if (!is_off(*compute) && limit != Duration::zero() && since && *since + limit > core.now)
    due = std::min(due, *since + limit);
  return due;
}

InstanceView instance_view(const Context& core, const std::string& target) {
  InstanceView view;
  const Compute* compute = core.state.computes().find(target);
  if (compute == nullptr || !compute->instance) return view;
  const Instance& instance = *compute->instance;
  view.state = state_of(core, *compute);
  view.changed = instance.changed;
  view.cause = instance.cause;
  view.why_data = is_off(*compute) ? Why(InstanceStoppedSo{instance.why})
                                   : Why(InstanceStartedSo{instance.why});
  const auto next = next_firing(core.config, *compute, core.now, [](auto) { return true; });
  if (next) {
    view.next_action = next->schedule->action;
    view.next_at = next->at;
    view.next_local = local_text(core.config, *next);
  }
  for (const InstanceSchedule& schedule : compute->spec.instance.schedules)
    if (const std::string zone = zone_of(schedule.trigger); !zones_of(core.config).has(zone))
      view.problem_data = TimeZoneUnknown{zone};
  return view;
}

std::optional<Error> refused_by_zones(const CoreConfig& config, const ComputeSpec& spec) {
  const TimeZones& zones = zones_of(config);
  for (std::size_t i = 0; i < spec.instance.schedules.size(); ++i) {
    const std::string zone = zone_of(spec.instance.schedules[i].trigger);
    if (zones.has(zone)) continue;
    const std::vector<std::string> names = zones.names();
    const std::string near =
        nearest(zone, std::vector<std::string_view>(names.begin(), names.end()));
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("{}.trigger.time_zone: there is no time zone '{}'; {}", schedule_path(i), zone,
                    near.empty() ? "write a name of IANA such as Europe/Berlin, or of Windows such "
                                   "as 'W. Europe Standard Time'"
                                 : fmt::format("did you mean '{}'?", near)));
  }
  return std::nullopt;
}

}  // namespace lockstep::launcher
