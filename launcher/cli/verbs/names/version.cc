// Verbs that change the data stored beside a version's content: description, tags, archived.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "launcher/cli/verbs/names/name_verbs.h"
#include "launcher/cli/verbs/names/version_changes.h"

namespace lockstep::cli {

namespace {

struct VersionArguments {
  explicit VersionArguments(NameKind of) : kind(of) {}
  const NameKind kind;
  VersionWords words;
  std::vector<std::string> set, remove;  // for update
};
using Arguments = std::shared_ptr<VersionArguments>;

AssetKind asset_kind(NameKind kind) {
  switch (kind) {
    case NameKind::environment:
    case NameKind::data: return AssetKind::data;
    case NameKind::model: return AssetKind::model;
    case NameKind::component: return AssetKind::component;
  }
  return AssetKind::data;
}

Result<std::string> newest_of(Connection& connection, NameKind kind, const std::string& name) {
  if (kind == NameKind::environment) {
    TRY_ASSIGN(const EnvironmentReply reply,
               connection.ask_for<EnvironmentReply>(ShowEnvironment{name + "@latest"}));
    return reply.environment.environment.spec.version;
  }
  TRY_ASSIGN(const AssetReply reply,
             connection.ask_for<AssetReply>(ShowAsset{asset_kind(kind), name, ""}));
  return reply.asset.asset.version;
}

int tell(Context& context, Connection& connection, const ClientRequest& request) {
  const auto reply = connection.ask_for<Done>(request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

int update(Context& context, const VersionArguments& arguments) {
  const std::string verb = fmt::format("{} update", to_string(arguments.kind));
  const auto named = read_version_words(verb, arguments.words);
  if (!named) return fail(context.terminal, named.error(), kExitUsage);
  auto changes = read_version_changes(verb, arguments.set, arguments.remove);
  if (!changes) return fail(context.terminal, changes.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  changes->kind = arguments.kind;
  changes->name = named->name;
  changes->version = named->version;
  if (changes->version.empty()) {
    auto newest = newest_of(**connection, arguments.kind, named->name);
    if (!newest) return fail(context.terminal, newest.error());
    changes->version = *std::move(newest);
  }
  return tell(context, **connection, *changes);
}

// Archives one version, or all versions if only the name is given.
int set_archived(Context& context, const VersionArguments& arguments, bool archived) {
  const auto named =
      read_version_words(archived ? "environment archive" : "environment restore", arguments.words);
  if (!named) return fail(context.terminal, named.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  ArchiveEnvironment request{named->name, named->version, archived};
  if (named->is_latest) {
    auto newest = newest_of(**connection, NameKind::environment, named->name);
    if (!newest) return fail(context.terminal, newest.error());
    request.version = *std::move(newest);
  }
  return tell(context, **connection, request);
}

CLI::App& add_named(CLI::App& group, const Arguments& arguments, const char* verb,
                    const char* what) {
  CLI::App& added = *group.add_subcommand(verb, what);
  auto* name =
      added.add_option("-n,--name,NAME", arguments->words.name, "the name, or NAME:VERSION");
  name->check(
      filled(fmt::format("`lockstep {} list` shows the names", to_string(arguments->kind))));
  added.parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  auto* version = added.add_option("-v,--version", arguments->words.version, "the version");
  version->check(filled("leave it out, or name one"));
  added.add_option("-l,--label", arguments->words.label, "latest: the newest that is not archived")
      ->excludes(version);
  return added;
}

CLI::Option* add_words(CLI::App& verb, const char* flag, std::vector<std::string>& words,
                       const char* what) {
  return verb.add_option(flag, words, what)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_version_update_verb(CLI::App& group, VerbTable table, NameKind kind) {
  const auto arguments = std::make_shared<VersionArguments>(kind);
  CLI::App& verb = add_named(group, arguments, "update",
                             "change the description and the tags of a version (the newest)");
  verb.footer(fmt::format(R"(
  lockstep {0} update NAME:VERSION --set tags.stage=production
  lockstep {0} update NAME --label latest --set description="what it is" --remove tags.stage
Keys: description, tags.KEY; --remove tags removes all tags. Its content never changes.)",
                          to_string(kind)));
  auto* set = add_words(verb, "--set", arguments->set, "KEY=VALUE; may be repeated");
  auto* remove = add_words(verb, "--remove", arguments->remove, "KEY; may be repeated");
  auto* name = verb.get_option("--name");
  verb.parse_complete_callback([name, set, remove] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
    if (set->count() + remove->count() == 0) throw CLI::RequiredError("--set or --remove");
  });
  verb.callback([table, arguments] {
    table.action = [arguments](Context& context) { return update(context, *arguments); };
  });
}

void add_environment_archive_verbs(CLI::App& group, VerbTable table) {
  const auto add = [&](const char* name, const char* what, bool archived) {
    const auto arguments = std::make_shared<VersionArguments>(NameKind::environment);
    add_named(group, arguments, name, what).callback([table, arguments, archived] {
      table.action = [arguments, archived](Context& context) {
        return set_archived(context, *arguments, archived);
      };
    });
  };
  add("archive", "take a version, or all of a name, out of lists and of @latest", true);
  add("restore", "undo an archive", false);
}

}  // namespace lockstep::cli
