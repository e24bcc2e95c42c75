// `lockstep compute`: the targets that jobs name, with az ml's verbs and files.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/api/json/cluster.h"
#include "launcher/api/json/compute.h"
#include "launcher/cli/compute_view.h"
#include "launcher/cli/verbs.h"
#include "launcher/cli/view_text.h"
#include "launcher/spec/compute_file.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateExamples = R"(
  lockstep compute create --name cpu-cluster --type local
      another name of this machine's nodes: `compute: azureml:cpu-cluster` runs here, unchanged
  lockstep compute create --name lab --type virtualmachine --node-source join
  lockstep compute create -f compute.yml --set description='the room in the cellar')";

struct ComputeOptions {
  std::string name;
  std::string file;
  std::vector<std::string> overrides;
  std::string type;
  std::string node_source;
  std::optional<std::string> description;
  std::optional<std::string> location;
  std::vector<std::string> tags;  // K=V
  bool yes = false;
  Format format = Format::table;
};

Error bad_compute(std::string message) {
  return make_error(ErrorCode::invalid_argument, "compute " + std::move(message));
}

Status apply_flags(const ComputeOptions& options, ComputeSpec& spec) {
  if (options.description) spec.description = *options.description;
  if (options.location) spec.location = *options.location;
  for (const std::string& tag : options.tags) {
    const auto equals = tag.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_compute(fmt::format("--tags: '{}' is not NAME=VALUE", tag));
    spec.tags[tag.substr(0, equals)] = tag.substr(equals + 1);
  }
  return {};
}

Result<ComputeSpec> spec_to_create(const ComputeOptions& options) {
  ComputeSpec spec;
  if (!options.file.empty()) {
    std::vector<std::string> overrides = options.overrides;
    if (!options.name.empty()) overrides.push_back("name=" + options.name);
    if (!options.type.empty()) overrides.push_back("type=" + options.type);
    if (!options.node_source.empty())
      overrides.push_back("lockstep.node_source=" + options.node_source);
    TRY_ASSIGN(spec, spec::load_compute(options.file, overrides));
  } else {
    if (options.name.empty() || options.type.empty())
      return bad_compute(
          "create: give a file (-f), or --name and --type; see lockstep compute create "
          "--help");
    if (!options.overrides.empty())
      return bad_compute("create: --set changes a file; name it with -f");
    spec.name = options.name;
    TRY_ASSIGN(spec.type, spec::compute_type(options.type));
    TRY_ASSIGN(spec.source, spec::node_source(spec.type, options.node_source));
  }
  TRY(apply_flags(options, spec));
  TRY(check(spec));
  return spec;
}

int fail_with_all(Terminal& terminal, const Error& error) {
  for (const Error& fault : spec::faults_of(error)) terminal.print_line(fault.message);
  return kExitUsage;
}

int show_one(Context& context, const ComputeOptions& options, const ComputeView& compute) {
  return print(context, options.format, api::to_json(compute), compute_text(compute));
}

int create(Context& context, const ComputeOptions& options) {
  const auto spec = spec_to_create(options);
  if (!spec) return fail_with_all(context.terminal, spec.error());
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ComputesReply>(CreateCompute{*spec});
  if (!reply) return fail(context.terminal, reply.error());
  const ComputeView& made = reply->computes.front();
  if (const std::string next = how_to_add_nodes(made); !next.empty())
    context.terminal.print_line(next);
  return show_one(context, options, made);
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
  const auto reply = (*connection)->ask_for<ComputesReply>(ListComputes{options.name});
  if (!reply) return fail(context.terminal, reply.error());
  return show_one(context, options, reply->computes.front());
}

// What is there, changed as the flags or the file say.
Result<ComputeSpec> spec_to_update(Connection& connection, const ComputeOptions& options) {
  if (!options.file.empty()) return spec_to_create(options);
  TRY_ASSIGN(const ComputesReply reply,
             connection.ask_for<ComputesReply>(ListComputes{options.name}));
  ComputeSpec spec = reply.computes.front().spec;
  for (const std::string& assignment : options.overrides) {
    const auto equals = assignment.find('=');
    const std::string key = assignment.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : assignment.substr(equals + 1);
    if (key == "description")
      spec.description = value;
    else if (key == "location")
      spec.location = value;
    else if (key.starts_with("tags.") && key.size() > 5)
      spec.tags[key.substr(5)] = value;
    else
      return bad_compute(fmt::format(
          "update: --set {}: description, location and tags.NAME can change", assignment));
  }
  TRY(apply_flags(options, spec));
  return spec;
}

int update(Context& context, const ComputeOptions& options) {
  if (options.name.empty() && options.file.empty())
    return fail(context.terminal, bad_compute("update: name the target, or a file with -f"),
                kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto spec = spec_to_update(**connection, options);
  if (!spec) return fail_with_all(context.terminal, spec.error());
  const auto reply = (*connection)->ask_for<ComputesReply>(UpdateCompute{*spec});
  if (!reply) return fail(context.terminal, reply.error());
  return show_one(context, options, reply->computes.front());
}

int remove(Context& context, const ComputeOptions& options) {
  return ask_to_change(context, DeleteCompute{options.name});
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

void add_texts(CLI::App& verb, ComputeOptions& options) {
  verb.add_option("-f,--file", options.file, "a compute file (YAML), as az ml has it")
      ->check(filled("name the file"));
  verb.add_option("--set", options.overrides, "KEY.KEY=VALUE, over what is there; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--description", options.description, "a text for people");
  verb.add_option("--location", options.location, "a text for people");
  verb.add_option("--tags", options.tags, "NAME=VALUE; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_format(verb, options.format);
}

}  // namespace

void add_compute_verbs(VerbTable table) {
  CLI::App* const added = table.add("compute", "targets that jobs can name");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<ComputeOptions>();
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* what,
                       int (*work)(Context&, const ComputeOptions&)) {
    auto* verb = group.add_subcommand(name, what);
    verb->callback([table, options, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
    return verb;
  };
  const auto named = [&](CLI::App* verb, bool is_required) {
    auto* name = verb->add_option("-n,--name,NAME", options->name, "the target's name");
    name->check(filled("`lockstep compute list` shows the names"));
    if (is_required)
      verb->parse_complete_callback([name] {
        if (name->count() == 0) throw CLI::RequiredError("NAME");
      });
    return verb;
  };
  auto* create_verb = named(add("create", "make a target", create), false);
  create_verb->add_option("--type", options->type,
                          "local (another name of target local), or "
                          "virtualmachine");
  create_verb->add_option("--node-source", options->node_source,
                          "of a virtualmachine: join, nodes come with a token");
  add_texts(*create_verb, *options);
  create_verb->footer(kCreateExamples);
  add_format(*add("list", "all targets, with their nodes and jobs", list), options->format);
  add_format(*named(add("show", "one target", show), true), options->format);
  add_texts(*named(add("update", "change a target's texts and tags", update), false), *options);
  auto* delete_verb =
      named(add("delete", "remove a target that has no jobs and no nodes", remove), true);
  delete_verb->add_flag("-y,--yes", options->yes,
                        "az's word; nothing is asked here, since nothing is lost");
  add_format(*named(add("list-nodes", "the nodes of a target", list_nodes), true), options->format);
}

}  // namespace lockstep::cli
