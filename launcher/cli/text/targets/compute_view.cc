#include "launcher/cli/text/targets/compute_view.h"

#include <fmt/format.h>

#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/targets/compute_machines.h"

namespace lockstep::cli {
namespace {

std::string type_of(const ComputeView& compute) {
  const bool is_alias =
      compute.spec.type == ComputeType::local && compute.spec.name != compute.pool;
  return std::string(to_string(compute.spec.type)) +
         (is_alias ? fmt::format(" (another name of {})", compute.pool) : "");
}

std::string type_and_state(const ComputeView& compute) {
  const std::string& state = compute.instance.state;
  return type_of(compute) + (state.empty() ? "" : fmt::format(" ({})", state));
}

void add_instance(Lines& lines, const ComputeView& compute) {
  const InstanceView& instance = compute.instance;
  const Duration idle = compute.spec.instance.idle_time;
  for (const auto& [name, words] : compute.spec.settings)
    lines.add(name, fmt::format("{}", fmt::join(words, " ")));
  lines.add("size", compute.spec.size);
  lines.add("state",
            fmt::format("{}: {} at {}", instance.state, instance.why, to_string(instance.changed)));
  lines.add("idle shutdown", idle == Duration::zero()
                                 ? "never"
                                 : fmt::format("after {} without work", format_duration(idle)));
  for (const InstanceSchedule& schedule : compute.spec.instance.schedules)
    lines.add("schedule",
              fmt::format("{}: {}{}", to_string(schedule.action), to_string(schedule.trigger),
                          schedule.enabled ? "" : " (disabled)"));
  if (instance.next_at.ns != 0)
    lines.add("next scheduled", fmt::format("{} at {} ({})", to_string(instance.next_action),
                                            instance.next_local, to_string(instance.next_at)));
  lines.add("schedules", instance.problem);
  if (!compute.scaling.failure.empty()) lines.add("last failure", compute.scaling.failure);
}

void add_scale(Lines& lines, const ComputeView& compute, Instant now) {
  const ComputeSpec& spec = compute.spec;
  const Scale& scale = spec.scale;
  const ScalingView& scaling = compute.scaling;
  for (const auto& [name, words] : spec.settings)
    lines.add(name, fmt::format("{}", fmt::join(words, " ")));
  lines.add("size", spec.size);
  lines.add("tier", to_string(scale.tier));
  lines.add("instances", fmt::format("{} to {}, removed after {} without work", scale.min_instances,
                                     most_machines(spec), format_duration(scale.idle_time)));
  lines.add("machines",
            fmt::format("{} wanted: {} with nodes, {} being made; {} leaving", scaling.wanted,
                        scaling.wanted - scaling.preparing, scaling.preparing, scaling.leaving));
  if (scaling.changed.ns != 0)
    lines.add("last scaled", fmt::format("{}: {}", to_string(scaling.changed), scaling.why));
  if (scaling.failure.empty()) return;
  const bool waits = scaling.retry_at > now;
  lines.add("last failure", scaling.failure + (waits ? "; the next machine is tried at " +
                                                           to_string(scaling.retry_at)
                                                     : std::string()));
}

std::string machines_text(const ComputeView& compute, Instant now) {
  std::string text;
  if (!compute.machines.empty()) text += "\n" + machine_table(compute.machines, now);
  for (const MachineView& machine : compute.machines)
    if (has_failed(machine)) text += "\n" + machine_failure(compute.spec, machine) + "\n";
  if (!compute.history.empty()) text += "\n" + history_lines(compute.history);
  return text;
}

}  // namespace

std::string compute_table(const std::vector<ComputeView>& computes) {
  Table table(
      {"NAME", "TYPE", "NODES", "IDLE", "BUSY", "UNAVAILABLE", "QUEUED", "RUNNING", "DESCRIPTION"});
  for (const ComputeView& compute : computes)
    table.add({compute.spec.name, type_and_state(compute), std::to_string(compute.nodes.total),
               std::to_string(compute.nodes.idle), std::to_string(compute.nodes.busy),
               std::to_string(compute.nodes.unavailable), std::to_string(compute.queued_jobs),
               std::to_string(compute.running_jobs), compute.spec.description});
  return table.text();
}

std::string compute_text(const ComputeView& compute, Instant now) {
  const ComputeSpec& spec = compute.spec;
  Lines lines;
  lines.add("name", spec.name);
  lines.add("type", type_of(compute));
  if (spec.source != NodeSource::none) lines.add("node source", to_string(spec.source));
  if (spec.source == NodeSource::ssh)
    lines.add("tunnel",
              to_string(spec.tunnel == TunnelUse::unset ? TunnelUse::automatic : spec.tunnel));
  if (is_instance(spec))
    add_instance(lines, compute);
  else if (is_elastic(spec))
    add_scale(lines, compute, now);
  lines.add("leaving", compute.leaving);
  lines.add("description", spec.description);
  lines.add("location", spec.location);
  for (const auto& [name, value] : spec.tags) lines.add("tag", fmt::format("{}={}", name, value));
  if (compute.created.ns != 0)
    lines.add("created", fmt::format("{} by {}", to_string(compute.created), compute.created_by));
  lines.add("nodes",
            fmt::format("{}: {} idle, {} busy, {} unavailable", compute.nodes.total,
                        compute.nodes.idle, compute.nodes.busy, compute.nodes.unavailable));
  lines.add("jobs",
            fmt::format("{} queued, {} running", compute.queued_jobs, compute.running_jobs));
  return printable(lines.text() + machines_text(compute, now));
}

std::string how_to_add_nodes(const ComputeView& compute) {
  const std::string& name = compute.spec.name;
  switch (compute.spec.source) {
    case NodeSource::none: return "";
    case NodeSource::ssh:
      if (!compute.spec.hosts.empty()) return "";
      return fmt::format(
          "It has no machines yet: `lockstep compute attach {} --host [USER@]ADDRESS` attaches one",
          name);
    case NodeSource::docker:
    case NodeSource::slurm:
    case NodeSource::command:
    case NodeSource::kubernetes:
      if (is_instance(compute.spec)) return "";  // shown while its machine is being made
      return fmt::format(
          "Its machines are made when jobs wait for it: `lockstep run --compute {} "
          "-- COMMAND`",
          name);
    case NodeSource::join: break;
  }
  return fmt::format(
      "Its nodes join with a token: `lockstep node token --compute {} > token`, and on each node "
      "`lockstep-agent --launcher tcp://HOST:PORT --token-file token`",
      name);
}

}  // namespace lockstep::cli
