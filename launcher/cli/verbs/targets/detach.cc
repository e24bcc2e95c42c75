// `lockstep compute detach` and `delete`: hosts leave a target, or the whole target goes.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "launcher/cli/targets/compute_options.h"
#include "launcher/cli/text/targets/machine_progress.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kDetachExamples = R"(
  lockstep compute detach lab --host vm1     one machine leaves, as soon as no job runs there
  lockstep compute detach lab                all of them, and then the target
The agent and all that was installed for it are removed from the machine. --force gives up what
runs there (the jobs are tried elsewhere, and it does not count as a retry), and forgets a machine
that cannot be reached.)";

int finish(Context& context, Connection& connection, MachineProgress& progress,
           const ComputeOptions& options) {
  const auto timeout = timeout_of(options.wait);
  if (!timeout) return fail(context.terminal, timeout.error(), kExitUsage);
  return wait_for_machines(context, connection, progress, *timeout);
}

int delete_target(Context& context, Connection& connection, const ComputeOptions& options) {
  const auto done = connection.ask_for<Done>(DeleteCompute{options.name, options.force});
  if (!done) return fail(context.terminal, done.error());
  context.terminal.print_line(done->message);
  if (!options.wait.is_wanted) return 0;
  const auto begun = connection.ask_for<ComputesReply>(ListComputes{options.name});
  if (!begun && begun.error().code == ErrorCode::not_found) return 0;
  if (!begun) return fail(context.terminal, begun.error());
  const ComputeView& compute = begun->computes.front();
  MachineProgress::Goals goals;
  for (const MachineView& machine : compute.machines)
    goals[machine.name] = MachineProgress::Goal::gone;
  MachineProgress progress(compute, goals, {options.force, true});
  const int code = finish(context, connection, progress, options);
  if (code == 0)
    context.terminal.print_line(fmt::format("compute target '{}' is deleted", options.name));
  return code;
}

int detach_hosts(Context& context, Connection& connection, const ComputeOptions& options) {
  const std::vector<std::string> hosts = split_at_commas(options.hosts.hosts);
  const auto reply =
      connection.ask_for<ComputesReply>(DetachHosts{options.name, hosts, options.force});
  if (!reply) return fail(context.terminal, reply.error());
  if (!options.wait.is_wanted) {
    context.terminal.print_line(
        fmt::format("the launcher detaches {}; `lockstep compute show {}` shows how far it is",
                    fmt::join(hosts, ", "), options.name));
    return 0;
  }
  MachineProgress::Goals goals;
  for (const std::string& host : hosts) goals[host] = MachineProgress::Goal::gone;
  MachineProgress progress(reply->computes.front(), goals, {options.force, false});
  return finish(context, connection, progress, options);
}

int detach(Context& context, const ComputeOptions& options) {
  if (const auto timeout = timeout_of(options.wait); !timeout)
    return fail(context.terminal, timeout.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  return options.hosts.hosts.empty() ? delete_target(context, **connection, options)
                                     : detach_hosts(context, **connection, options);
}

void add_verb(CLI::App& group, VerbTable table, const char* name, const char* what,
              bool takes_hosts) {
  CLI::App* const verb = table.add_below(group, name, what);
  if (verb == nullptr) return;
  const auto options = std::make_shared<ComputeOptions>();
  add_name(verb, *options, true);
  if (takes_hosts) {
    verb->add_option("--host", options->hosts.hosts,
                     "only this machine of the target; may be repeated, or several with commas")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->check(filled("`lockstep compute show NAME` shows the machines"));
    verb->footer(kDetachExamples);
  }
  verb->add_flag("--force", options->force,
                 "give up what runs on its machines, and forget those that cannot be reached");
  add_wait(*verb, options->wait, "its machines are detached");
  verb->add_flag("-y,--yes", options->yes,
                 "accepted as in az; has no effect, because no confirmation is asked for");
  verb->callback([table, options] {
    table.action = [options](Context& context) { return detach(context, *options); };
  });
}

}  // namespace

void add_detach_verbs(CLI::App& group, VerbTable table) {
  add_verb(group, table, "detach", "take machines off a target, or all of it", true);
  add_verb(group, table, "delete", "remove a target that has no jobs, with its machines", false);
}

}  // namespace lockstep::cli
