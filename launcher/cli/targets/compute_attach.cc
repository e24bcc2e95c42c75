#include "launcher/cli/targets/compute_attach.h"

#include "launcher/cli/text/targets/compute_machines.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

MachineProgress::Goals goals_of(const ComputeView& compute) {
  MachineProgress::Goals goals;
  if (is_elastic(compute.spec)) {
    // Machines that min_instances requires. Machines of a cluster never leave for good.
    for (const MachineView& machine : compute.machines)
      if (!is_leaving(machine)) goals[machine.name] = MachineProgress::Goal::joined;
    return goals;
  }
  for (const MachineView& machine : compute.machines)
    goals[machine.name] = MachineProgress::Goal::gone;
  for (const SshHost& host : compute.spec.hosts) goals[host.name] = MachineProgress::Goal::joined;
  return goals;
}

Result<ComputeView> attach_hosts(Connection& connection, Terminal& terminal,
                                 const ComputeSpec& spec) {
  const auto known = connection.ask_for<ComputesReply>(ListComputes{spec.name});
  if (!known && known.error().code != ErrorCode::not_found) return known.error();
  if (!known) {
    TRY_ASSIGN(const ComputesReply made, connection.ask_for<ComputesReply>(CreateCompute{spec}));
    return made.computes.front();
  }
  const ComputeSpec& before = known->computes.front().spec;
  const bool same_tunnel =
      spec.tunnel == TunnelUse::unset || spec.tunnel == before.tunnel ||
      (spec.tunnel == TunnelUse::automatic && before.tunnel == TunnelUse::unset);
  if (before.source == NodeSource::ssh && !same_tunnel)
    return make_error(
        ErrorCode::conflict,
        fmt::format(
            "target '{}' is there already, with tunnel: {}; change that first: `lockstep "
            "compute update {} --set lockstep.tunnel={}`",
            spec.name,
            to_string(before.tunnel == TunnelUse::unset ? TunnelUse::automatic : before.tunnel),
            spec.name, to_string(spec.tunnel)));
  if (const auto share = spec.settings.find("share");
      share != spec.settings.end() && before.settings != spec.settings)
    return make_error(
        ErrorCode::conflict,
        fmt::format("target '{}' is there already, with another part of its machines; change that "
                    "first: `lockstep compute update {} --set lockstep.share={}`",
                    spec.name, spec.name, share->second.front()));
  TRY_ASSIGN(const ComputesReply reply,
             connection.ask_for<ComputesReply>(AttachHosts{spec.name, spec.hosts}));
  const bool has_other_texts =
      (!spec.description.empty() && spec.description != before.description) ||
      (!spec.location.empty() && spec.location != before.location) ||
      (!spec.tags.empty() && spec.tags != before.tags);
  if (has_other_texts)
    terminal.print_line(fmt::format(
        "target '{}' is there already, and keeps its description, location and tags; `lockstep "
        "compute update` changes them",
        spec.name));
  return reply.computes.front();
}

int wait_until_joined(Context& context, Connection& connection, const ComputeView& begun,
                      const MachineProgress::Goals& goals, const MachineWait& wait) {
  const auto timeout = timeout_of(wait);
  if (!timeout) return fail(context.terminal, timeout.error(), kExitUsage);
  if (goals.empty()) return 0;
  MachineProgress progress(begun, goals);
  if (wait.is_wanted) return wait_for_machines(context, connection, progress, *timeout);
  context.terminal.print_line(
      fmt::format("the launcher attaches {} machine{}; `lockstep compute show {}` shows how far it "
                  "is",
                  goals.size(), goals.size() == 1 ? "" : "s", begun.spec.name));
  return 0;
}

}  // namespace lockstep::cli
