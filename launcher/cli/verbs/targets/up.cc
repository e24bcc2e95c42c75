#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/cluster.h"
#include "launcher/cli/local/launcher.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/targets/compute_attach.h"
#include "launcher/cli/targets/compute_options.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

Error not_ours(const Context& context, std::string_view verb) {
  return make_error(ErrorCode::conflict,
                    fmt::format("{}: LOCKSTEP_LAUNCHER names another launcher ({}); to use a local "
                                "launcher, unset LOCKSTEP_LAUNCHER",
                                verb, context.launcher));
}

int show_status(Context& context, Connection& connection, Format format) {
  const auto reply = connection.ask_for<StatusReply>(GetStatus{});
  if (!reply) return fail(context.terminal, reply.error());
  io::SystemClock clock;
  return print(context, format, api::to_json(reply->status),
               status_text(reply->status, clock.now()));
}

constexpr const char* kUpExamples = R"(
  lockstep up --nodes 2
  lockstep up --hosts vm1,ann@vm2:2222    and attaches these machines over ssh, to target hosts:
                                          lockstep run --compute hosts -- python3 train.py)";
constexpr std::string_view kHostsTarget = "hosts";

struct UpOptions {
  int nodes = 0;
  std::vector<std::string> hosts;
  bool cancel = false;
  Format format = Format::table;
};

// Attaches hosts. If the launcher listens on loopback only, agents reach it through ssh.
int attach_to_hosts(Context& context, Connection& connection, std::vector<SshHost> hosts) {
  ComputeSpec spec;
  spec.name = kHostsTarget;
  spec.type = ComputeType::virtualmachine;
  spec.source = NodeSource::ssh;
  spec.hosts = std::move(hosts);
  const auto begun = attach_hosts(connection, context.terminal, spec);
  if (!begun) return fail(context.terminal, begun.error());
  MachineProgress::Goals goals;
  for (const SshHost& host : spec.hosts) goals[host.name] = MachineProgress::Goal::joined;
  const int code = wait_until_joined(context, connection, *begun, goals, {});
  if (code <= kExitFailure)
    context.terminal.print_line(
        fmt::format("jobs run on these machines with `--compute {}`; `lockstep config set "
                    "defaults.compute={}` makes that the default",
                    kHostsTarget, kHostsTarget));
  return code;
}

int up(Context& context, const UpOptions& options) {
  if (!context.launcher.empty()) return fail(context.terminal, not_ours(context, "up"));
  HostFlags flags;
  flags.hosts = options.hosts;
  auto hosts = hosts_from("--hosts", flags);
  if (!hosts) return fail(context.terminal, hosts.error().within("up"), kExitUsage);
  const Status done = LocalLauncher(context.home, context.terminal).up(options.nodes);
  if (!done) return fail(context.terminal, done.error());
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  if (!hosts->empty()) code = attach_to_hosts(context, **connection, std::move(*hosts));
  if (code > kExitFailure) return code;
  return std::max(code, show_status(context, **connection, options.format));
}

// The number of machines that have joined a running launcher; none is started for this.
std::size_t count_attached(Context& context) {
  if (!context.find_endpoint()) return 0;
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return 0;
  const auto reply = (*connection)->ask_for<ComputesReply>(ListComputes{}, seconds(5));
  if (!reply) return 0;
  std::size_t count = 0;
  for (const ComputeView& compute : reply->computes)
    for (const MachineView& machine : compute.machines) count += machine.node.empty() ? 0 : 1;
  return count;
}

int down(Context& context, bool cancel) {
  if (!context.launcher.empty()) return fail(context.terminal, not_ours(context, "down"));
  const std::size_t attached = count_attached(context);
  const Status done = LocalLauncher(context.home, context.terminal).down(cancel);
  if (!done) return fail(context.terminal, done.error());
  if (attached > 0)
    context.terminal.print_line(fmt::format(
        "{} attached machine{} as {}: the agents there wait for this launcher, and are its nodes "
        "again after `lockstep up`. While the launcher runs, `lockstep compute detach NAME` takes "
        "machines off, and `lockstep compute delete NAME` those of a cluster",
        attached, attached == 1 ? " stays" : "s stay", attached == 1 ? "it is" : "they are"));
  return 0;
}

// Starts nothing, since the question is whether something runs.
int status(Context& context, Format format) {
  if (!context.launcher.empty()) {
    const auto named = read_endpoint(context.launcher);
    if (!named) return fail(context.terminal, named.error().within("LOCKSTEP_LAUNCHER"));
  } else if (!context.find_endpoint()) {
    const auto endpoint = read_endpoint(context.home.endpoint());
    if (!endpoint && endpoint.error().code == ErrorCode::permission_denied)
      return fail(
          context.terminal,
          make_error(ErrorCode::permission_denied,
                     endpoint.error().message +
                         "; only the account that owns this home can see whether a launcher "
                         "runs there; set LOCKSTEP_HOME to use another home"));
    const std::string text = "launcher:     not running (" + context.home.path() + ")\n";
    if (const Status may = may_start_launcher(context.home); !may)
      context.terminal.print_line(may.error().message);
    print(context, format, api::to_json(api::NoLauncher{context.home.path()}), text);
    return kExitFailure;
  }
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  return show_status(context, **connection, format);
}

}  // namespace

void add_up_verbs(VerbTable table) {
  const auto options = std::make_shared<UpOptions>();
  if (CLI::App* const verb = table.add("up", "start a launcher and local nodes, or add nodes")) {
    verb->add_option("--nodes", options->nodes,
                     "number of local nodes that share this machine (default 1)")
        ->check(whole_number(1, kMaxLocalNodes));
    verb->add_option("--hosts", options->hosts,
                     "attach these machines over ssh: [USER@]ADDRESS[:PORT], several with commas")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->check(filled("write [USER@]ADDRESS[:PORT]"));
    add_format(*verb, options->format);
    verb->footer(kUpExamples);
    verb->callback([table, options] {
      table.action = [options](Context& context) { return up(context, *options); };
    });
  }
  if (CLI::App* const verb = table.add("down", "end the launcher and the local nodes")) {
    verb->add_flag("--cancel", options->cancel, "cancel the jobs that still run first");
    verb->callback([table, options] {
      table.action = [options](Context& context) { return down(context, options->cancel); };
    });
  }
  if (CLI::App* const verb = table.add(
          "status", "show the launcher, nodes and jobs; exit code 1 when no launcher runs")) {
    add_format(*verb, options->format);
    verb->callback([table, options] {
      table.action = [options](Context& context) { return status(context, options->format); };
    });
  }
}

}  // namespace lockstep::cli
