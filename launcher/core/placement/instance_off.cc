#include "launcher/core/placement/instance_off.h"

#include "common/domain/why/nodes/placement.h"
#include "launcher/core/base/next_fire.h"

namespace lockstep::launcher {

const Compute* instance_of(const State& state, const std::string& target) {
  const Compute* compute = state.computes().find(target);
  return compute != nullptr && compute->instance && !compute->leaving ? compute : nullptr;
}

std::optional<Firing> next_firing(const CoreConfig& config, const Compute& compute, Instant now,
                                  bool (*is_wanted)(InstanceAction action)) {
  std::optional<Firing> next;
  for (const InstanceSchedule& schedule : compute.spec.instance.schedules) {
    if (!schedule.enabled || !is_wanted(schedule.action)) continue;
    const auto at = next_fire(schedule.trigger, compute.instance->scheduled, now, zones_of(config));
    // If two schedules have the same time, the later one in the file counts.
    if (at && (!next || *at <= next->at)) next = Firing{*at, &schedule};
  }
  return next;
}

Why why_off(const Cluster& cluster, const std::string& pool) {
  const Compute* compute = instance_of(cluster.state, pool);
  if (compute == nullptr || !is_off(*compute)) return {};
  InstanceIsStopped reason{pool, compute->instance->why, {}};
  const auto starts = [](InstanceAction action) { return action == InstanceAction::start; };
  if (const auto next = next_firing(cluster.config, *compute, cluster.now, starts)) {
    const std::string zone = zone_of(next->schedule->trigger);
    reason.starts = InstanceIsStopped::Start{
        next->at, to_string(zones_of(cluster.config).local(zone, next->at)), zone};
  }
  return reason;
}

}  // namespace lockstep::launcher
