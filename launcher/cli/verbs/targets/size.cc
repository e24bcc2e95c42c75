// `lockstep size`: the sizes that targets can have, and `lockstep compute list-sizes`, which shows
// them as az ml does.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "launcher/api/json/size.h"
#include "launcher/cli/text/targets/size_view.h"
#include "launcher/cli/verbs/targets/target_verbs.h"
#include "launcher/files/targets/size_file.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

namespace {

constexpr const char* kAddExamples = R"(
  lockstep size add -f size.yml
  lockstep size add -f size.yml --set price_per_hour=3.06
A file has one size, or several in a list under `sizes:`.
  name: lab-a100
  vcpus: 64
  memory: 512g
  gpus: 4
  gpu_name: A100
  ib_gbps: 200        rdma, isolated and approval are true or false
With the name of a size of the catalogue it takes that one's place; `lockstep size remove` gives it
back.)";

struct SizeOptions {
  std::string name, file, type;
  std::vector<std::string> overrides;
  int machines = 0;
  bool gpu = false, rdma = false, isolated = false, series = false;
  Format format = Format::table;
};

using Options = std::shared_ptr<SizeOptions>;
using Verb = int (*)(Context&, const SizeOptions&);

Result<SizesReply> ask(Context& context, const ClientRequest& request) {
  TRY_ASSIGN(auto connection, context.connect(Context::Need::launcher));
  return connection->ask_for<SizesReply>(request);
}

int show_sizes(Context& context, const SizeOptions& options, const std::vector<SizeView>& sizes) {
  return print(context, options.format, api::to_json(sizes), size_table(sizes));
}

int add(Context& context, const SizeOptions& options) {
  const auto catalogue = spec::load_sizes(options.file, options.overrides);
  if (!catalogue) {
    for (const Error& fault : spec::faults_of(catalogue.error()))
      context.terminal.print_line(fault.message);
    return kExitUsage;
  }
  DefineSizes request;
  for (const auto& [key, size] : catalogue->sizes) request.sizes.push_back(size);
  const auto reply = ask(context, request);
  if (!reply) return fail(context.terminal, reply.error());
  return show_sizes(context, options, reply->sizes);
}

int remove(Context& context, const SizeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(RemoveSize{options.name});
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

int show(Context& context, const SizeOptions& options) {
  const auto reply = ask(context, ListSizes{options.name});
  if (!reply) return fail(context.terminal, reply.error());
  const SizeView& size = reply->sizes.front();
  return print(context, options.format, api::to_json(size), size_text(size));
}

int grant(Context& context, const SizeOptions& options) {
  const auto reply = ask(context, GrantSize{options.name, options.machines});
  if (!reply) return fail(context.terminal, reply.error());
  const SizeView& size = reply->sizes.front();
  if (options.format != Format::table)
    return print(context, options.format, api::to_json(size), "");
  context.terminal.print_line(fmt::format("targets of size {} may have {} machines together",
                                          size.size.name, options.machines));
  return 0;
}

bool is_wanted(const SizeOptions& options, const Size& size) {
  if (options.gpu && size.gpus == 0) return false;
  if (options.rdma && !size.rdma) return false;
  if (options.isolated && !size.isolated) return false;
  if (options.type == "amlcompute" && !size.for_clusters) return false;
  return options.type != "computeinstance" || size.for_instances;
}

int list(Context& context, const SizeOptions& options) {
  const auto reply = ask(context, ListSizes{});
  if (!reply) return fail(context.terminal, reply.error());
  if (options.series)
    return print(context, options.format, api::to_json(reply->series), series_table(reply->series));
  std::vector<SizeView> sizes;
  std::copy_if(reply->sizes.begin(), reply->sizes.end(), std::back_inserter(sizes),
               [&](const SizeView& view) { return is_wanted(options, view.size); });
  return show_sizes(context, options, sizes);
}

CLI::App& add_verb(CLI::App& group, VerbTable table, const Options& options, const char* name,
                   const char* what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return *verb;
}

CLI::App& add_named_verb(CLI::App& group, VerbTable table, const Options& options, const char* name,
                         const char* what, Verb work) {
  CLI::App& verb = add_verb(group, table, options, name, what, work);
  verb.add_option("NAME", options->name, "the size's name, in either case")
      ->required()
      ->check(filled("`lockstep compute list-sizes` shows the names"));
  return verb;
}

void add_filters(CLI::App& verb, SizeOptions& options) {
  verb.add_flag("--gpu", options.gpu, "only sizes with GPUs");
  verb.add_flag("--rdma", options.rdma, "only sizes whose machines reach each other by RDMA");
  verb.add_flag("--isolated", options.isolated, "only sizes that have a server to themselves");
  verb.add_option("--type", options.type, "only sizes of this type of target")
      ->check(CLI::IsMember(std::vector<std::string>{"amlcompute", "computeinstance"}));
  add_format(verb, options.format);
}

}  // namespace

void add_size_verbs(VerbTable table) {
  CLI::App* const added = table.add("size", "sizes that the machines of targets can have");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<SizeOptions>();
  group.require_subcommand(1);
  auto& list_verb = add_verb(group, table, options, "list", "all sizes", list);
  add_filters(list_verb, *options);
  list_verb.add_flag("--series", options->series, "Azure's table of families instead");
  add_format(add_named_verb(group, table, options, "show", "one size", show), options->format);
  auto& add_sizes = add_verb(group, table, options, "add", "add sizes, or replace them", add);
  add_sizes.add_option("-f,--file", options->file, "the file of the size or sizes")
      ->required()
      ->check(filled("name the file"));
  add_sizes.add_option("--set", options->overrides, "KEY=VALUE over the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_format(add_sizes, options->format);
  add_sizes.footer(kAddExamples);
  add_named_verb(group, table, options, "remove", "remove a size that was added", remove);
  auto& grant_verb =
      add_named_verb(group, table, options, "grant",
                     "say how many machines of a size all targets may have together", grant);
  grant_verb.add_option("--machines", options->machines, "how many; 0: none")
      ->required()
      ->check(whole_number(0, kMaxGrantedMachines));
  add_format(grant_verb, options->format);
  grant_verb.footer(
      "\n  lockstep size grant Standard_NC24rs_v3 --machines 8\n"
      "  A size that needs approval has 0 before it is granted; other sizes have no limit.");
}

void add_list_sizes_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<SizeOptions>();
  add_filters(
      add_verb(group, table, options, "list-sizes", "the sizes that targets can have", list),
      *options);
}

}  // namespace lockstep::cli
