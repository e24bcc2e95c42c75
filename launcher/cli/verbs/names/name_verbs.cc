#include "launcher/cli/verbs/names/name_verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace lockstep::cli {

namespace {

struct NameArguments {
  explicit NameArguments(NameKind of) : kind(of) {}
  const NameKind kind;
  std::string name, version;
  std::vector<std::string> users;
  bool with_project = false, all = false;
};
using Arguments = std::shared_ptr<NameArguments>;
using Verb = int (*)(Context&, const NameArguments&);

int wrong(Context& context, const NameArguments& arguments, const char* verb,
          const std::string& message) {
  return fail(context.terminal,
              make_error(ErrorCode::invalid_argument,
                         fmt::format("{} {}: {}", to_string(arguments.kind), verb, message)),
              kExitUsage);
}

// Shares each name separately: a refusal for one does not stop the others.
int set_shared(Context& context, const NameArguments& arguments, bool shared) {
  if (arguments.users.empty() && !arguments.with_project)
    return wrong(context, arguments, shared ? "share" : "unshare",
                 "say with whom: --with USER, or --with-project");
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  std::vector<std::string> users = arguments.users;
  if (arguments.with_project) users.push_back("");
  int code = 0;
  for (const std::string& user : users) {
    const auto reply =
        (*connection)->ask_for<Done>(ShareName{arguments.kind, arguments.name, user, shared});
    if (reply)
      context.terminal.print_line(reply->message);
    else
      code = fail(context.terminal, reply.error());
  }
  return code;
}
int share(Context& context, const NameArguments& arguments) {
  return set_shared(context, arguments, true);
}
int unshare(Context& context, const NameArguments& arguments) {
  return set_shared(context, arguments, false);
}

int remove(Context& context, const NameArguments& arguments) {
  DeleteVersions request{arguments.kind, arguments.name, arguments.version};
  const std::string_view scheme = "azureml:";
  if (request.name.starts_with(scheme)) request.name.erase(0, scheme.size());
  if (const auto colon = request.name.find(':'); colon != std::string::npos) {
    if (!request.version.empty())
      return wrong(
          context, arguments, "delete",
          fmt::format("'{}' already names the version; leave --version out", arguments.name));
    request.version = request.name.substr(colon + 1);
    request.name.erase(colon);
    if (request.version.empty())
      return wrong(context, arguments, "delete", "the version after ':' is empty");
  }
  if (request.version.empty() != arguments.all)
    return wrong(context, arguments, "delete",
                 arguments.all ? "give either a version or --all"
                               : "say which version with --version, or --all to delete all and "
                                 "the name");
  if (request.name.find('@') != std::string::npos)
    return wrong(context, arguments, "delete",
                 fmt::format("'{}' is a label; write the version", arguments.name));
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

CLI::App& add_verb(CLI::App& group, VerbTable table, const Arguments& arguments, const char* name,
                   const std::string& what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, arguments, work] {
    table.action = [arguments, work](Context& context) { return work(context, *arguments); };
  });
  auto* option = verb->add_option("-n,--name,NAME", arguments->name, "the name");
  option->check(
      filled(fmt::format("`lockstep {} list` shows the names", to_string(arguments->kind))));
  verb->parse_complete_callback([option] {
    if (option->count() == 0) throw CLI::RequiredError("NAME");
  });
  return *verb;
}

void add_with(CLI::App& verb, const Arguments& arguments) {
  verb.add_option("--with", arguments->users, "a user; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("name a user"));
  verb.add_flag("--with-project", arguments->with_project,
                "all who may submit into the name's project");
}

}  // namespace

void add_name_verbs(CLI::App& group, VerbTable table, NameKind kind) {
  const auto arguments = std::make_shared<NameArguments>(kind);
  add_with(add_verb(group, table, arguments, "share", "let others add versions to a name of yours",
                    share),
           arguments);
  add_with(add_verb(group, table, arguments, "unshare",
                    "no longer let others add versions to a name of yours", unshare),
           arguments);
  CLI::App& verb = add_verb(group, table, arguments, "delete",
                            "delete a version, or a name with all of its versions", remove);
  verb.add_option("-v,--version", arguments->version, "the version")
      ->check(filled("name one, or give --all"));
  verb.add_flag("--all", arguments->all,
                "all versions and the name, which anyone may then give to something else");
}

}  // namespace lockstep::cli
