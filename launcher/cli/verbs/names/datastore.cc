// `lockstep datastore`: the storage that the launcher's operator has named, as in az ml.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launcher/api/json/datastore.h"
#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/verbs/names/registry_verbs.h"

namespace lockstep::cli {
namespace {

constexpr const char* kHelp = R"(
A job reads a datastore's files with `path: azureml://datastores/NAME/paths/PATH`. The launcher's
operator names datastores in datastores.yml in the launcher's home (yours: ~/.lockstep):
  scratch: {directory: /data/scratch}
  lake: {rclone: "minio:bucket/sets", config: rclone.conf, read_only: true, users: [alice]})";

struct DatastoreArguments {
  std::string name;
  Format format = Format::table;
};
using Arguments = std::shared_ptr<DatastoreArguments>;

std::string storage_of(const DatastoreView& store) {
  return store.kind == DatastoreKind::directory ? store.directory : store.remote;
}

std::string access_of(const DatastoreView& store) {
  return store.read_only ? "read" : "read and write";
}

std::string table_of(const std::vector<DatastoreView>& stores) {
  if (stores.empty()) return "no datastores; `lockstep datastore --help` says how they are named\n";
  Table table({"NAME", "TYPE", "ACCESS", "STORAGE"});
  for (const DatastoreView& store : stores)
    table.add(
        {store.name, std::string(to_string(store.kind)), access_of(store), storage_of(store)});
  return table.text();
}

std::string text_of(const DatastoreView& store) {
  Lines lines;
  lines.add("name", store.name);
  lines.add("type", std::string(to_string(store.kind)));
  lines.add("access", access_of(store));
  lines.add("storage", storage_of(store));
  lines.add("users", fmt::format("{}", fmt::join(store.users, ", ")));
  lines.add("projects", fmt::format("{}", fmt::join(store.projects, ", ")));
  lines.add("in a job file", fmt::format("path: azureml://datastores/{}/paths/PATH", store.name));
  return lines.text();
}

Result<std::vector<DatastoreView>> ask(Context& context, const std::string& name) {
  TRY_ASSIGN(Connection* const connection, context.connect(Context::Need::launcher));
  TRY_ASSIGN(DatastoresReply reply, connection->ask_for<DatastoresReply>(ListDatastores{name}));
  return std::move(reply.datastores);
}

int list(Context& context, const DatastoreArguments& arguments) {
  const auto stores = ask(context, "");
  if (!stores) return fail(context.terminal, stores.error());
  return print(context, arguments.format, api::to_json(*stores), table_of(*stores));
}

int show(Context& context, const DatastoreArguments& arguments) {
  const auto stores = ask(context, arguments.name);
  if (!stores) return fail(context.terminal, stores.error());
  const DatastoreView& store = stores->front();
  return print(context, arguments.format, api::to_json(store), text_of(store));
}

}  // namespace

void add_datastore_verbs(VerbTable table) {
  CLI::App* const added = table.add("datastore", "show the storage that jobs may name");
  if (added == nullptr) return;
  CLI::App& group = *added;
  group.require_subcommand(1);
  group.footer(kHelp);
  const auto arguments = std::make_shared<DatastoreArguments>();
  auto* all = group.add_subcommand("list", "list the datastores that you may use");
  all->callback([table, arguments] {
    table.action = [arguments](Context& context) { return list(context, *arguments); };
  });
  add_format(*all, arguments->format);
  auto* one = group.add_subcommand("show", "show one datastore");
  one->callback([table, arguments] {
    table.action = [arguments](Context& context) { return show(context, *arguments); };
  });
  auto* name = one->add_option("-n,--name,NAME", arguments->name, "the name");
  name->check(filled("`lockstep datastore list` shows the names"));
  one->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  add_format(*one, arguments->format);
}

}  // namespace lockstep::cli
