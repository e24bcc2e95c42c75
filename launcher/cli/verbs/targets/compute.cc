// `lockstep compute`: the targets that jobs name, with az ml's verbs and files.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/cluster.h"
#include "launcher/api/json/compute.h"
#include "launcher/cli/targets/compute_attach.h"
#include "launcher/cli/targets/compute_options.h"
#include "launcher/cli/text/targets/compute_view.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/targets/target_verbs.h"
#include "launcher/files/targets/instance_reader.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateExamples = R"(
  lockstep compute create --name cpu-cluster --type local
      another name of this machine's nodes: `compute: azureml:cpu-cluster` runs here, unchanged
  lockstep compute create --name lab --type virtualmachine --host ann@vm1 --host ann@vm2:2222
      the launcher attaches the machines over ssh; see lockstep compute attach --help
  lockstep compute create --name lab --type virtualmachine --node-source join
  lockstep compute create --name cluster --type amlcompute --node-source docker --image IMAGE \
      --max-instances 3
      containers on this machine: made when jobs wait, removed when they are idle
  lockstep compute create --name ci1 --type computeinstance --node-source docker --image IMAGE \
      --idle-time-before-shutdown 1h
      one container that is on until it is stopped, or has had no work for an hour
  lockstep compute create -f compute.yml --set description='the room in the cellar')";
constexpr const char* kUpdateExamples = R"(
  lockstep compute update lab --description 'the room in the cellar'
  lockstep compute update -f compute.yml   attaches the hosts that are new, and detaches those that
                                           are no longer there
  lockstep compute update cluster --min-instances 0 --max-instances 8
  lockstep compute update lab              tries again at once what failed
  lockstep compute update lab --upgrade    installs the launcher's version on its machines)";

constexpr const char* kAttachExamples = R"(
  lockstep compute attach lab --host vm1 --host ann@vm2:2222
  lockstep compute attach lab --host vm1,vm2 --user ann --ssh-private-key-file ~/.ssh/lab
  lockstep compute attach -f compute.yml
The launcher logs in with the system's ssh as it is set up on its machine, copies what an agent
needs, and starts it. Nothing has to be installed there before, and no root is needed.
Exit code 1: a machine has not joined; the launcher goes on trying.)";

using Options = std::shared_ptr<ComputeOptions>;
using Verb = int (*)(Context&, const ComputeOptions&);

int show_one(Context& context, const ComputeOptions& options, const ComputeView& compute) {
  return print(context, options.format, api::to_json(compute),
               compute_text(compute, io::SystemClock().now()));
}

// Waits, and shows the target's state after that. A table does not repeat failures that were
// reported.
int wait_and_show(Context& context, Connection& connection, const ComputeOptions& options,
                  const ComputeView& begun, const MachineProgress::Goals& goals) {
  const int code = wait_until_joined(context, connection, begun, goals, options.wait);
  if (code > kExitFailure || (code != 0 && options.format == Format::table)) return code;
  const auto now = connection.ask_for<ComputesReply>(ListComputes{begun.spec.name});
  if (!now) return fail(context.terminal, now.error());
  show_one(context, options, now->computes.front());
  return code;
}

// Checks the options before any request. nullopt: they are good.
std::optional<int> refuse(Context& context, const ComputeOptions& options) {
  const auto timeout = timeout_of(options.wait);
  if (timeout) return std::nullopt;
  return fail(context.terminal, timeout.error(), kExitUsage);
}

// Prints an error with the place of its value: a --set may have replaced the file's value.
int fail_with_place(Context& context, const ComputeOptions& options, const Error& error) {
  const bool is_of_file = !options.file.empty() && options.overrides.empty();
  return fail(context.terminal, is_of_file ? spec::with_place_in(options.file, error) : error);
}

// The launcher asks the provider first, so this may take longer than other requests.
Result<ComputesReply> ask_with_check(Context& context, Connection& connection,
                                     const ComputeSpec& spec, const ClientRequest& request) {
  constexpr Duration kLongest = seconds(60), kRepeatAfter = seconds(15);
  if (has_provider(spec) && spec.source != NodeSource::ssh)
    context.terminal.progress(fmt::format("checks the settings with {}", to_string(spec.source)));
  auto reply = connection.ask_for<ComputesReply>(request, kLongest, kRepeatAfter);
  context.terminal.clear_status();
  return reply;
}

int create_target(Context& context, const ComputeOptions& options, const ComputeSpec& spec) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply =
      ask_with_check(context, **connection, spec, CreateCompute{spec, options.check});
  if (!reply) return fail_with_place(context, options, reply.error());
  const ComputeView& made = reply->computes.front();
  if (const std::string next = how_to_add_nodes(made); !next.empty())
    context.terminal.print_line(next);
  return wait_and_show(context, **connection, options, made, goals_of(made));
}

int create(Context& context, const ComputeOptions& options) {
  if (const auto refused = refuse(context, options)) return *refused;
  const auto spec = spec_to_create("create", options);
  if (!spec) return fail_with_all(context.terminal, spec.error());
  return create_target(context, options, *spec);
}

int list(Context& context, const ComputeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ComputesReply>(ListComputes{});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->computes),
               compute_table(reply->computes));
}

int show(Context& context, const ComputeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply =
      (*connection)->ask_for<ComputesReply>(ListComputes{options.name, options.history});
  if (!reply) return fail(context.terminal, reply.error());
  return show_one(context, options, reply->computes.front());
}

// Texts change at once, without machines.
bool changes_machines(const ComputeOptions& options) {
  const bool has_texts = options.description || options.location || !options.tags.empty() ||
                         !options.overrides.empty();
  return !options.file.empty() || options.upgrade || !has_texts;
}

int update(Context& context, const ComputeOptions& options) {
  if (const auto refused = refuse(context, options)) return *refused;
  if (options.name.empty() && options.file.empty())
    return fail(context.terminal, bad_compute("update: name the target, or a file with -f"),
                kExitUsage);
  const bool has_file = !options.file.empty();
  Result<ComputeSpec> spec = has_file ? spec_to_create("update", options) : ComputeSpec{};
  if (!spec) return fail_with_all(context.terminal, spec.error());
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (!has_file) {
    const auto known = (*connection)->ask_for<ComputesReply>(ListComputes{options.name});
    if (!known) return fail(context.terminal, known.error());
    spec = spec_to_update(known->computes.front().spec, options);
    if (!spec) return fail_with_all(context.terminal, spec.error());
  }
  const auto reply = ask_with_check(context, **connection, *spec,
                                    UpdateCompute{*spec, options.upgrade, options.check});
  if (!reply) return fail_with_place(context, options, reply.error());
  const ComputeView& changed = reply->computes.front();
  if (!changes_machines(options)) return show_one(context, options, changed);
  return wait_and_show(context, **connection, options, changed, goals_of(changed));
}

int attach(Context& context, const ComputeOptions& options) {
  if (const auto refused = refuse(context, options)) return *refused;
  const auto spec = spec_to_create("attach", options);
  if (!spec) return fail_with_all(context.terminal, spec.error());
  // az attaches a Kubernetes cluster this way.
  if (spec->source == NodeSource::kubernetes) return create_target(context, options, *spec);
  if (spec->hosts.empty())
    return fail(context.terminal,
                bad_compute(fmt::format("attach: {} names no host; write --host "
                                        "[USER@]ADDRESS[:PORT], or `lockstep.hosts` in the file",
                                        options.file.empty() ? "the command" : options.file)),
                kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto begun = attach_hosts(**connection, context.terminal, *spec);
  if (!begun) return fail(context.terminal, begun.error());
  if (is_elastic(begun->spec))
    context.terminal.print_line(fmt::format(
        "target '{}' is a cluster: its hosts are attached when jobs need them", begun->spec.name));
  MachineProgress::Goals goals;
  if (!is_elastic(begun->spec))
    for (const SshHost& host : spec->hosts) goals[host.name] = MachineProgress::Goal::joined;
  return wait_and_show(context, **connection, options, *begun, goals);
}

int list_nodes(Context& context, const ComputeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto target = (*connection)->ask_for<ComputesReply>(ListComputes{options.name});
  if (!target) return fail(context.terminal, target.error());
  auto reply = (*connection)->ask_for<NodesReply>(ListNodes{});
  if (!reply) return fail(context.terminal, reply.error());
  const std::string& pool = target->computes.front().pool;
  std::erase_if(reply->nodes, [&](const NodeView& node) { return node.compute != pool; });
  const std::string none = fmt::format("target '{}' has no nodes\n", options.name);
  return print(context, options.format, api::to_json(reply->nodes),
               reply->nodes.empty() ? none : node_table(reply->nodes));
}

CLI::App& add_verb(CLI::App& group, VerbTable table, const Options& options, const char* name,
                   const char* what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return *verb;
}

void add_create(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb = add_verb(group, table, options, "create", "make a target", create);
  add_name(&verb, *options, false);
  verb.add_option(
      "--type", options->type,
      "local (another name of target local), virtualmachine, amlcompute (a cluster), "
      "kubernetes (a cluster of pods), or computeinstance (one machine that is on until it is "
      "stopped)");
  verb.add_option(
      "--node-source", options->node_source,
      "of a virtualmachine: ssh, the launcher attaches --host (default); join, nodes "
      "come with a token. Of a cluster or an instance: docker, ssh, slurm, command; of a "
      "cluster also kubernetes");
  add_texts(verb, *options);
  add_cluster(verb, *options);
  add_hosts(verb, options->hosts);
  add_no_check(verb, *options);
  add_wait(verb, options->wait, "its machines have joined");
  verb.footer(kCreateExamples);
}

void add_update(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb = add_verb(group, table, options, "update", "change a target", update);
  add_name(&verb, *options, false);
  add_texts(verb, *options);
  add_cluster(verb, *options);
  verb.add_flag("--upgrade", options->upgrade,
                "install the launcher's version of the agent on its machines");
  add_no_check(verb, *options);
  add_wait(verb, options->wait, "its machines have joined or are detached");
  verb.footer(kUpdateExamples);
}

void add_attach(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb = add_verb(group, table, options, "attach",
                        "make machines into nodes over ssh; makes the target if need be", attach);
  add_name(&verb, *options, false);
  add_texts(verb, *options);
  add_hosts(verb, options->hosts);
  add_wait(verb, options->wait, "they have joined");
  verb.footer(kAttachExamples);
}

}  // namespace

void add_compute_verbs(VerbTable table) {
  CLI::App* const added = table.add("compute", "targets that jobs can name");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<ComputeOptions>();
  group.require_subcommand(1);
  add_create(group, table, options);
  add_format(
      add_verb(group, table, options, "list", "all targets, with their nodes and jobs", list),
      options->format);
  auto& show_verb = add_verb(group, table, options, "show", "one target with its machines", show);
  add_name(&show_verb, *options, true);
  show_verb.add_flag("--history", options->history, "also what happened to its machines");
  add_format(show_verb, options->format);
  add_update(group, table, options);
  add_attach(group, table, options);
  add_detach_verbs(group, table);
  add_instance_verbs(group, table);
  auto& nodes_verb =
      add_verb(group, table, options, "list-nodes", "the nodes of a target", list_nodes);
  add_format(*add_name(&nodes_verb, *options, true), options->format);
  add_list_sizes_verb(group, table);
  add_connect_ssh_verb(group, table);
  add_compute_log_verb(group, table);
}

}  // namespace lockstep::cli
