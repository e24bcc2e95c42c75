// `lockstep compute start`, `stop` and `restart`: of compute instances.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "launcher/cli/targets/compute_options.h"
#include "launcher/cli/text/targets/compute_machines.h"
#include "launcher/cli/text/targets/machine_progress.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {
namespace {

enum class InstanceVerb { start, stop, restart };

Result<ComputesReply> ask(Connection& connection, InstanceVerb verb,
                          const ComputeOptions& options) {
  switch (verb) {
    case InstanceVerb::start: return connection.ask_for<ComputesReply>(StartCompute{options.name});
    case InstanceVerb::stop:
      return connection.ask_for<ComputesReply>(StopCompute{options.name, options.force});
    case InstanceVerb::restart:
      return connection.ask_for<ComputesReply>(RestartCompute{options.name, options.force});
  }
  return make_error(ErrorCode::internal, "unknown verb");
}

// Waits until the machines of `begun` that leave are gone, or the others have joined.
int wait_for(Context& context, Connection& connection, const ComputeView& begun,
             MachineProgress::Goal goal, Duration timeout) {
  MachineProgress::Goals goals;
  for (const MachineView& machine : begun.machines)
    if (is_leaving(machine) == (goal == MachineProgress::Goal::gone)) goals[machine.name] = goal;
  if (goals.empty()) return 0;
  MachineProgress progress(begun, goals);
  return wait_for_machines(context, connection, progress, timeout);
}

int wait_for_instance(Context& context, Connection& connection, InstanceVerb verb,
                      const ComputeView& begun, Duration timeout) {
  using Goal = MachineProgress::Goal;
  const int code = wait_for(context, connection, begun, Goal::gone, timeout);
  if (code != 0 || verb == InstanceVerb::stop) return code;
  // The machine that replaces the old one has a name now.
  const auto now = connection.ask_for<ComputesReply>(ListComputes{begun.spec.name});
  if (!now) return fail(context.terminal, now.error());
  return wait_for(context, connection, now->computes.front(), Goal::joined, timeout);
}

std::string said(const ComputeView& compute) {
  return fmt::format("compute instance '{}' is {} ({})", compute.spec.name, compute.instance.state,
                     compute.instance.why);
}

int change(Context& context, InstanceVerb verb, const ComputeOptions& options) {
  const auto timeout = timeout_of(options.wait);
  if (!timeout) return fail(context.terminal, timeout.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = ask(**connection, verb, options);
  if (!reply) return fail(context.terminal, reply.error());
  const ComputeView& begun = reply->computes.front();
  int code = 0;
  if (options.wait.is_wanted)
    code = wait_for_instance(context, **connection, verb, begun, *timeout);
  const auto now = (*connection)->ask_for<ComputesReply>(ListComputes{options.name});
  if (!now) return fail(context.terminal, now.error());
  context.terminal.print_line(said(now->computes.front()));
  return code;
}

void add_instance_verb(CLI::App& group, VerbTable table, InstanceVerb kind, const char* name,
                       const char* what, const char* until) {
  CLI::App* const verb = table.add_below(group, name, what);
  if (verb == nullptr) return;
  const auto options = std::make_shared<ComputeOptions>();
  add_name(verb, *options, true);
  if (kind != InstanceVerb::start)
    verb->add_flag("--force", options->force,
                   "give up the jobs that run there: they go back to the queue");
  add_wait(*verb, options->wait, until);
  verb->callback([table, options, kind] {
    table.action = [options, kind](Context& context) { return change(context, kind, *options); };
  });
}

}  // namespace

void add_instance_verbs(CLI::App& group, VerbTable table) {
  add_instance_verb(group, table, InstanceVerb::start, "start", "start a compute instance",
                    "its machine has joined");
  add_instance_verb(group, table, InstanceVerb::stop, "stop",
                    "stop a compute instance; it keeps its settings", "its machine is gone");
  add_instance_verb(group, table, InstanceVerb::restart, "restart",
                    "replace the machine of a compute instance by a new one",
                    "the new machine has joined");
}

}  // namespace lockstep::cli
