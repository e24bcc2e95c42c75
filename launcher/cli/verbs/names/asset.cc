// `lockstep data` and `lockstep model`: registered files that jobs read as inputs, as in az ml.
// Also what `lockstep component` shares with them.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/domain/data/data_reference.h"
#include "launcher/api/json/asset.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/submit/component_store.h"
#include "launcher/cli/submit/submit.h"
#include "launcher/cli/text/asset_view.h"
#include "launcher/cli/transfer/download.h"
#include "launcher/cli/transfer/download_marks.h"
#include "launcher/cli/verbs/names/asset_words.h"
#include "launcher/cli/verbs/names/name_verbs.h"
#include "launcher/cli/verbs/names/registry_verbs.h"
#include "launcher/files/data/asset_file.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateData = R"(
  lockstep data create -n faces --path ./faces             the next version of a folder
  lockstep data create -n labels --type uri_file --path ./labels.csv --version 3
  lockstep data create -f data.yml --set version=4
  lockstep data create -n clean --path azureml://jobs/JOB/outputs/NAME
The files are kept by the launcher. A version keeps its files. A job reads it with
`inputs: {d: {path: azureml:faces@latest}}` in its file.)";
constexpr const char* kCreateModel = R"(
  lockstep model create -n resnet --path azureml://jobs/JOB/outputs/model
  lockstep model create -n resnet --path ./weights.pt --version 3
  lockstep model create -f model.yml
The files are kept by the launcher. A version keeps its files. A job reads it with
`inputs: {m: {path: azureml:resnet@latest}}` in its file.)";

struct AssetArguments {
  explicit AssetArguments(AssetKind of) : kind(of) {}
  const AssetKind kind;
  std::string name, version, label;  // the version to show, archive or download
  std::string file, project;         // for create
  spec::AssetOptions options;        // for create
  std::vector<std::string> tags;     // for create
  bool include_archived = false, archived_only = false;
  std::string folder = ".";  // for download
  Format format = Format::table;
};

using Arguments = std::shared_ptr<AssetArguments>;
using Verb = int (*)(Context&, const AssetArguments&);

int create(Context& context, const AssetArguments& arguments) {
  spec::AssetOptions options = arguments.options;
  auto tags = tags_of(arguments.tags);
  if (!tags) return fail(context.terminal, tags.error(), kExitUsage);
  options.tags = *std::move(tags);
  auto read = spec::load_asset(arguments.kind, arguments.file, options);
  if (!read) return fail_with_all(context.terminal, read.error());
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (read->local) {
    const Status sent = send_files(context, **connection, *read->local, read->asset);
    if (!sent) return fail(context.terminal, sent.error());
  }
  const auto reply =
      (*connection)
          ->ask_for<AssetReply>(CreateAsset{read->asset, arguments.project}, kSubmitTimeout);
  if (!reply) return fail(context.terminal, spec::with_place(reply.error(), *read));
  say_what_stays(context, read->asset, reply->asset.asset);
  if (const auto reference = parse_data_reference(read->asset.path); reference && *reference)
    if (const auto* output = std::get_if<JobOutputReference>(&**reference))
      say_whose(**connection, context.terminal, output->job);
  return print(context, arguments.format, api::to_json(reply->asset),
               reference_of(reply->asset.asset) + "\n");
}

int list(Context& context, const AssetArguments& arguments) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  ListAssets question{arguments.kind, arguments.name, ArchivedToo::no};
  if (arguments.include_archived) question.archived = ArchivedToo::yes;
  if (arguments.archived_only) question.archived = ArchivedToo::only;
  const auto reply = (*connection)->ask_for<AssetsReply>(question);
  if (!reply) return fail(context.terminal, reply.error());
  const int code = print(context, arguments.format, api::to_json(reply->assets),
                         asset_table(arguments.kind, reply->assets));
  if (reply->more > 0)
    context.terminal.print_line(
        fmt::format("and {} more, which do not fit here; name one with -n", reply->more));
  return code;
}

bool names_version(const std::string& name) {
  const std::string_view rest = std::string_view(name).substr(name.starts_with("azureml:") ? 8 : 0);
  return rest.find_first_of(":@") != std::string_view::npos;
}

// Reads NAME with --version or --label, as in az, or all in one word.
Result<AssetReference> reference_of(const AssetArguments& arguments) {
  const std::string lead = fmt::format("{}: ", to_string(arguments.kind));
  std::string text = arguments.name;
  if (names_version(text) && !(arguments.version.empty() && arguments.label.empty()))
    return make_error(ErrorCode::invalid_argument,
                      lead + fmt::format("'{}' already names the version; leave {} out", text,
                                         arguments.version.empty() ? "--label" : "--version"));
  if (!arguments.version.empty()) text += ":" + arguments.version;
  if (!arguments.label.empty()) text += "@" + arguments.label;
  if (!text.starts_with("azureml:")) text.insert(0, "azureml:");
  const auto parsed = parse_data_reference(text);
  if (!parsed) return make_error(parsed.error().code, lead + parsed.error().message);
  const auto* asset = std::get_if<AssetReference>(&**parsed);
  if (asset != nullptr) return *asset;
  return make_error(ErrorCode::invalid_argument,
                    lead + fmt::format("'{}' is not a name; write NAME, NAME:VERSION or "
                                       "NAME@latest",
                                       arguments.name));
}

Result<AssetView> find(Connection& connection, const AssetArguments& arguments,
                       const AssetReference& reference) {
  TRY_ASSIGN(AssetReply reply, connection.ask_for<AssetReply>(
                                   ShowAsset{arguments.kind, reference.name, reference.version}));
  return std::move(reply.asset);
}

// The text of a component's file.
Result<std::string> definition_of(Context& context, const AssetView& view) {
  TRY_ASSIGN(const spec::FoundComponent found,
             component_finder(context)({view.asset.name, view.asset.version, ""}));
  return spec::read_regular_text_file(found.file);
}

int show(Context& context, const AssetArguments& arguments) {
  const auto reference = reference_of(arguments);
  if (!reference) return fail(context.terminal, reference.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto found = find(**connection, arguments, *reference);
  if (!found) return fail(context.terminal, found.error());
  Json json = api::to_json(*found);
  std::string text = asset_text(*found);
  if (arguments.kind == AssetKind::component) {
    const auto definition = definition_of(context, *found);
    if (!definition) return fail(context.terminal, definition.error());
    json["lockstep"]["definition"] = *definition;
    text += "\n" + in_lines(*definition, 0) + "\n";
  }
  return print(context, arguments.format, json, text);
}

// Archives one version, or all versions if only the name is given.
int set_archived(Context& context, const AssetArguments& arguments, bool archived) {
  const auto reference = reference_of(arguments);
  if (!reference) return fail(context.terminal, reference.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  ArchiveAsset request{arguments.kind, reference->name, reference->version, archived};
  const bool is_all =
      !names_version(arguments.name) && arguments.version.empty() && arguments.label.empty();
  if (request.version.empty() && !is_all) {
    const auto newest = find(**connection, arguments, *reference);
    if (!newest) return fail(context.terminal, newest.error());
    request.version = newest->asset.version;
  }
  const auto reply = (*connection)->ask_for<Done>(request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}
int archive(Context& context, const AssetArguments& arguments) {
  return set_archived(context, arguments, true);
}
int restore(Context& context, const AssetArguments& arguments) {
  return set_archived(context, arguments, false);
}

int download(Context& context, const AssetArguments& arguments) {
  const auto reference = reference_of(arguments);
  if (!reference) return fail(context.terminal, reference.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto found = find(**connection, arguments, *reference);
  if (!found) return fail(context.terminal, found.error());
  const auto done =
      download_asset(**connection, found->asset, arguments.folder,
                     [&](const std::string& text) { context.terminal.progress(text); });
  context.terminal.clear_status();
  if (!done) return fail(context.terminal, done.error());
  const DownloadedTree& tree = done->trees.front();
  context.terminal.print_line(fmt::format("{}: {}/{}: {} file{}, {}", reference_of(found->asset),
                                          arguments.folder, tree.path, tree.files,
                                          tree.files == 1 ? "" : "s", to_string(tree.size)));
  if (!done->unmarked.empty()) context.terminal.print_line(unmarked_text(done->unmarked));
  return 0;
}

CLI::App& add_verb(CLI::App& group, VerbTable table, const Arguments& arguments, const char* name,
                   const std::string& what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, arguments, work] {
    table.action = [arguments, work](Context& context) { return work(context, *arguments); };
  });
  return *verb;
}

void add_value(CLI::App& verb, const Arguments& arguments, const char* flags, const char* key,
               const std::string& what) {
  verb.add_option_function<std::string>(
      flags,
      [arguments, key](const std::string& text) {
        arguments->options.values.emplace_back(key, text);
      },
      what + " (overrides the file's)");
}

void add_create(CLI::App& group, VerbTable table, const Arguments& arguments) {
  const AssetKind kind = arguments->kind;
  const bool is_data = kind == AssetKind::data;
  auto& verb =
      add_verb(group, table, arguments, "create",
               fmt::format("register a {} under a name and a version", noun_of(kind)), create);
  verb.footer(is_data ? kCreateData : kCreateModel);
  verb.add_option("-f,--file", arguments->file, "the file that describes it, as for az ml")
      ->check(filled("leave it out, and give --name and --path"));
  add_value(verb, arguments, "-n,--name", "name", "the name");
  add_value(verb, arguments, "-v,--version", "version", "the version; none: the next number");
  add_value(verb, arguments, "-t,--type", "type",
            types_of(kind) + fmt::format("; none: {}", is_data ? "uri_folder" : "custom_model"));
  add_value(verb, arguments, "-p,--path", "path",
            "a local file or folder, or azureml://jobs/JOB/outputs/NAME");
  add_value(verb, arguments, "-d,--description", "description", "what it is");
  verb.add_option("--tags", arguments->tags, "NAME=VALUE; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--set", arguments->options.overrides, "KEY=VALUE over the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--project", arguments->project,
                  "for a new name: the project whose members see it (default: the project of which "
                  "you are a submitter; if there is none or more than one, the project 'default')")
      ->check(filled("leave it out for your own"));
  add_format(verb, arguments->format);
}

CLI::App& add_named(CLI::App& group, VerbTable table, const Arguments& arguments, const char* name,
                    const std::string& what, Verb work) {
  CLI::App& verb = add_verb(group, table, arguments, name, what, work);
  auto* option = verb.add_option("-n,--name,NAME", arguments->name, "the name, or NAME:VERSION");
  option->check(
      filled(fmt::format("`lockstep {} list` shows the names", to_string(arguments->kind))));
  verb.parse_complete_callback([option] {
    if (option->count() == 0) throw CLI::RequiredError("NAME");
  });
  auto* version = verb.add_option("-v,--version", arguments->version, "the version");
  version->check(filled("leave it out, or name one"));
  verb.add_option("-l,--label", arguments->label, "latest: the newest that is not archived")
      ->excludes(version);
  return verb;
}

void add_group(VerbTable table, AssetKind kind, const std::string& what) {
  CLI::App* const added = table.add(std::string(to_string(kind)), what);
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto arguments = std::make_shared<AssetArguments>(kind);
  const std::string noun(noun_of(kind));
  group.require_subcommand(1);
  if (kind == AssetKind::component)
    add_component_create_verb(group, table);
  else
    add_create(group, table, arguments);
  auto& all =
      add_verb(group, table, arguments, "list", "list the newest version of each " + noun, list);
  all.add_option("-n,--name", arguments->name, "list all versions of this name")
      ->check(filled("leave it out to see all"));
  auto* only = all.add_flag("--archived-only", arguments->archived_only, "only archived versions");
  all.add_flag("--include-archived", arguments->include_archived, "archived versions too")
      ->excludes(only);
  add_format(all, arguments->format);
  add_format(
      add_named(group, table, arguments, "show",
                kind == AssetKind::component
                    ? "show one version (the newest) and its file"
                    : "show one version (the newest), the job that made it and those that used it",
                show),
      arguments->format);
  if (kind == AssetKind::model)
    add_named(group, table, arguments, "download", "download a model's files", download)
        .add_option("-p,--download-path", arguments->folder,
                    "the folder to download to (default: the current one)")
        ->check(filled("leave it out to take the current folder"));
  add_named(group, table, arguments, "archive",
            "take a version, or all of a name, out of lists and of @latest", archive);
  add_named(group, table, arguments, "restore", "undo an archive", restore);
  add_version_update_verb(group, table, name_kind_of(kind));
  add_name_verbs(group, table, name_kind_of(kind));
}

}  // namespace

void add_asset_verbs(VerbTable table) {
  add_group(table, AssetKind::data, "register and show data: files that jobs read");
  add_group(table, AssetKind::model, "register, show and download models");
  add_group(table, AssetKind::component, "register and show components: steps of pipelines");
}

}  // namespace lockstep::cli
