// Users, their keys and roles, and projects.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/grammar/key_word.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/api/json/access.h"
#include "launcher/cli/local/processes.h"
#include "launcher/cli/text/targets/quota_view.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

struct UserOptions {
  std::string name;
  std::string key, replaces;
  std::string account;
  std::string role = "submitter";
  std::string project;
  bool withdraw = false;
  Format format = Format::table;
};

std::string roles_of(const UserView& user) {
  std::string text;
  for (const Grant& grant : user.grants) text += (text.empty() ? "" : ", ") + to_string(grant);
  return text.empty() ? "none" : text;
}

std::string text_of(const UserView& user) {
  std::string text =
      fmt::format("user:     {}\naccount:  {}\nroles:    {}\nadded:    {} by {}\n", user.name,
                  user.account, roles_of(user), to_string(user.added), user.by);
  for (const auto& key : user.keys)
    text += fmt::format("key:      {}  (added {} by {})\n", key_word(key.key), to_string(key.added),
                        key.by);
  return text;
}

int change(Context& context, const ChangePrincipals& request) {
  return ask_to_change(context, request);
}

// Reads a grant. A role in a project that names no project is for the default project.
Result<Grant> grant_of(const UserOptions& options) {
  const auto role = role_from(options.role);
  if (!role)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format(
            "'{}' is not a role; the roles are admin, operator, submitter, priority and viewer",
            options.role));
  Grant grant{*role, options.project};
  if (is_of_project(*role) && grant.project.empty()) grant.project = std::string(kDefaultProject);
  return grant;
}

// "-" means this user's own key.
Result<PublicKey> key_of(Context& context, const std::string& word) {
  if (word != "-") return key_from_word(word);
  TRY_ASSIGN(const io::KeyPair keys, user_keys(context.home));
  return keys.public_key;
}

// Jobs run as this account, on nodes that have it. Mostly all machines have the same accounts, so a
// missing one is worth a note.
void tell_of_missing_account(Context& context, const std::string& account) {
  const auto found = io::find_user(account);
  if (found || found.error().code != ErrorCode::not_found) return;
  context.terminal.print_line(
      fmt::format("note: this machine has no account '{0}'. The user's jobs run only on nodes that "
                  "have it; `lockstep user account NAME ACCOUNT` names another",
                  account));
}

int add(Context& context, const UserOptions& options) {
  const auto grant = grant_of(options);
  if (!grant) return fail(context.terminal, grant.error(), kExitUsage);
  AddUser ask{options.name, options.account, {}, *grant};
  if (!options.key.empty()) {
    const auto key = key_from_word(options.key);
    if (!key) return fail(context.terminal, key.error(), kExitUsage);
    ask.key = *key;
  }
  const int code = change(context, {ask});
  if (code == 0) tell_of_missing_account(context, ask.account.empty() ? ask.name : ask.account);
  return code;
}

int remove(Context& context, const UserOptions& options) {
  return change(context, {RemoveUser{options.name}});
}

int role(Context& context, const UserOptions& options) {
  const auto grant = grant_of(options);
  if (!grant) return fail(context.terminal, grant.error(), kExitUsage);
  return change(context, {ChangeRole{options.name, *grant, options.withdraw}});
}

int account(Context& context, const UserOptions& options) {
  const int code = change(context, {SetAccount{options.name, options.account}});
  if (code == 0) tell_of_missing_account(context, options.account);
  return code;
}

int print_users(Context& context, const UserOptions& options, const ClientRequest& request,
                bool one) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<UsersReply>(request);
  if (!reply) return fail(context.terminal, reply.error());
  if (one && !reply->users.empty())
    return print(context, options.format, api::to_json(reply->users.front()),
                 text_of(reply->users.front()));
  Table table({"NAME", "ACCOUNT", "ROLES", "KEYS"});
  for (const UserView& user : reply->users)
    table.add({user.name, user.account, roles_of(user), std::to_string(user.keys.size())});
  return print(context, options.format, api::to_json(reply->users), table.text());
}

int list(Context& context, const UserOptions& options) {
  return print_users(context, options, ListUsers{}, false);
}
int show(Context& context, const UserOptions& options) {
  return print_users(context, options, ListUsers{options.name}, true);
}
// Shows the user, with their quotas and what they use now.
int whoami(Context& context, const UserOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto users = (*connection)->ask_for<UsersReply>(WhoAmI{});
  if (!users) return fail(context.terminal, users.error());
  if (users->users.empty())
    return fail(context.terminal,
                make_error(ErrorCode::not_found, "the launcher has no user with this key"));
  const auto quotas = (*connection)->ask_for<QuotasReply>(ListQuotas{});
  if (!quotas) return fail(context.terminal, quotas.error());
  return print(context, options.format,
               api::to_json(api::Oneself{users->users.front(), quotas->quotas}),
               text_of(users->users.front()) + "\n" + quotas_text(quotas->quotas, true));
}

// ---- keys

int show_key(Context& context, const UserOptions& options) {
  const auto keys = user_keys(context.home);
  if (!keys) return fail(context.terminal, keys.error());
  const std::string word = key_word(keys->public_key);
  return print(context, options.format, Json{{"key", word}, {"file", keys->path}}, word + "\n");
}

int add_key(Context& context, const UserOptions& options) {
  const auto key = key_of(context, options.key);
  if (!key) return fail(context.terminal, key.error(), kExitUsage);
  AddKey ask{options.name, *key, {}};
  if (!options.replaces.empty()) {
    const auto old = key_from_word(options.replaces);
    if (!old) return fail(context.terminal, old.error(), kExitUsage);
    ask.replaces = *old;
  }
  return change(context, {ask});
}

int revoke_key(Context& context, const UserOptions& options) {
  const auto key = key_of(context, options.key);
  if (!key) return fail(context.terminal, key.error(), kExitUsage);
  return change(context, {RevokeKey{*key}});
}

// Renames the file over the other one, so a whole file is there at any moment.
Status move_key(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const std::string text, io::read_file(from));
  return io::write_file_atomically(to, text, 0600);
}

// Replaces the user's key in three steps, and the key in the file works after each of them: the
// launcher gets the new key, then the file, and then the old key is revoked. If a step is
// interrupted, the next call continues with the same two keys.
Result<std::string> rotate(Context& context) {
  const std::string file = context.home.user_key();
  const std::string fresh_file = file + ".new", old_file = file + ".old";
  if (!io::exists(old_file)) {
    TRY_ASSIGN(const io::KeyPair fresh, io::load_or_create_key_pair(fresh_file));
    TRY_ASSIGN(const auto connection, context.connect(Context::Need::launcher));
    TRY_ASSIGN(const auto self, connection->ask_for<UsersReply>(WhoAmI{}));
    if (self.users.empty())
      return make_error(ErrorCode::not_found, "the launcher has no user with this key");
    TRY(connection->ask_for<Done>(
        ChangePrincipals{AddKey{self.users.front().name, fresh.public_key, {}}}));
    TRY(move_key(file, old_file));
  }
  if (io::exists(fresh_file)) {
    TRY(move_key(fresh_file, file));
    TRY(io::remove_tree(fresh_file));
  }
  TRY_ASSIGN(const io::KeyPair old, io::load_or_create_key_pair(old_file));
  TRY_ASSIGN(const auto connection, context.connect(Context::Need::launcher));
  TRY(connection->ask_for<Done>(ChangePrincipals{RevokeKey{old.public_key}}));
  TRY(io::remove_tree(old_file));
  TRY_ASSIGN(const io::KeyPair now, user_keys(context.home));
  return fmt::format("your key is now {}; {} is revoked", key_word(now.public_key),
                     key_word(old.public_key));
}

int rotate_key(Context& context, const UserOptions&) {
  const auto done = rotate(context);
  // Running the same command again would be refused again.
  if (!done && done.error().code == ErrorCode::permission_denied)
    return fail(context.terminal, Error(done.error()).within("the key cannot be rotated"));
  if (!done)
    return fail(context.terminal,
                Error(done.error())
                    .within("the key rotation is not complete; run the command again to continue"));
  context.terminal.print_line(*done);
  return 0;
}

// ---- projects

int list_projects(Context& context, const UserOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ProjectsReply>(ListProjects{});
  if (!reply) return fail(context.terminal, reply.error());
  Table table({"NAME", "USERS", "CREATED BY"});
  for (const ProjectView& project : reply->projects)
    table.add({project.name, fmt::format("{}", fmt::join(project.users, ", ")), project.by});
  return print(context, options.format, api::to_json(reply->projects), table.text());
}

int create_project(Context& context, const UserOptions& options) {
  return change(context, {CreateProject{options.name}});
}
int remove_project(Context& context, const UserOptions& options) {
  return change(context, {RemoveProject{options.name}});
}

using Verb = int (*)(Context&, const UserOptions&);

// Adds the verbs of a group, which share their options.
class Group {
 public:
  Group(VerbTable table, CLI::App& app, std::shared_ptr<UserOptions> options)
      : table_(table), app_(app), options_(std::move(options)) {
    app_.require_subcommand(1);
  }
  CLI::App* add(const char* name, const char* what, Verb work) const {
    auto* verb = app_.add_subcommand(name, what);
    verb->callback([table = table_, options = options_, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
    return verb;
  }
  CLI::App* named(const char* name, const char* what, Verb work, const char* see) const {
    auto* verb = add(name, what, work);
    verb->add_option("NAME", options_->name, "its name")->required()->check(filled(see));
    return verb;
  }

 private:
  VerbTable table_;
  CLI::App& app_;
  std::shared_ptr<UserOptions> options_;
};

constexpr const char* kSeeUsers = "`lockstep user list` shows the names";
constexpr const char* kSeeProjects = "`lockstep project list` shows the names";

void add_key_verbs(const VerbTable& table, CLI::App& user_group,
                   const std::shared_ptr<UserOptions>& options) {
  const Group keys(table, *user_group.add_subcommand("key", "keys that users sign with"), options);
  const auto with_key = [&](CLI::App* verb) {
    verb->add_option("KEY", options->key,
                     "the key, as `lockstep user key show` prints it; - for your own key")
        ->required();
    return verb;
  };
  add_format(*keys.add("show", "print your public key", show_key), options->format);
  auto* add_verb = with_key(keys.named("add", "give a user another key", add_key, kSeeUsers));
  add_verb->add_option("--replaces", options->replaces, "revoke this key in the same step");
  with_key(keys.add("revoke", "revoke a key, permanently", revoke_key));
  keys.add("rotate", "make yourself a new key; the old one is revoked", rotate_key);
}

}  // namespace

void add_user_verbs(VerbTable table) {
  CLI::App* const added =
      table.add("user", "the users of this launcher, with their roles and keys");
  if (added == nullptr) return;
  CLI::App& app = *added;
  const auto options = std::make_shared<UserOptions>();
  const Group users(table, app, options);
  const auto with_role = [&](CLI::App* verb) {
    verb->add_option("--project", options->project,
                     "the project of a submitter or viewer (default: default)");
    return verb;
  };
  add_format(*users.add("list", "all users", list), options->format);
  add_format(*users.named("show", "a user's roles and keys", show, kSeeUsers), options->format);
  add_format(*users.add("whoami", "show your user, roles and quotas on this launcher", whoami),
             options->format);
  auto* add_verb = with_role(users.named("add", "add a user", add, kSeeUsers));
  add_verb->add_option("--key", options->key,
                       "the user's key, as `lockstep user key show` prints it for the user");
  add_verb->add_option("--role", options->role,
                       "admin, operator, submitter (default), priority or viewer");
  add_verb->add_option("--account", options->account,
                       "the account that the user's jobs run as (default: the user's name)");
  users.named("remove", "remove a user; their keys are revoked", remove, kSeeUsers);
  auto* role_verb =
      with_role(users.named("role", "give a user a role, or take it away", role, kSeeUsers));
  role_verb->add_option("ROLE", options->role, "admin, operator, submitter, priority or viewer")
      ->required();
  role_verb->add_flag("--remove", options->withdraw, "take the role away");
  users.named("account", "change the account that a user's jobs run as", account, kSeeUsers)
      ->add_option("ACCOUNT", options->account, "an account on the nodes")
      ->required();
  add_key_verbs(table, app, options);
}

void add_project_verbs(VerbTable table) {
  CLI::App* const added = table.add("project", "groups of users, jobs and names");
  if (added == nullptr) return;
  const auto options = std::make_shared<UserOptions>();
  const Group projects(table, *added, options);
  add_format(*projects.add("list", "your projects", list_projects), options->format);
  projects.named("create", "make a project", create_project, kSeeProjects);
  projects.named("remove", "remove a project without jobs", remove_project, kSeeProjects);
}

}  // namespace lockstep::cli
