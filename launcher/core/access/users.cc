#include "launcher/core/access/users.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/access/user_changes.h"
#include "launcher/core/base/counted.h"

namespace lockstep::launcher {

namespace {

template <typename Body>
void emit_body(Context& core, Body body) {
  core.emit(std::move(body));
}

void emit_all(Context& core, std::vector<PrincipalFact> facts) {
  for (PrincipalFact& fact : facts)
    std::visit([&](auto& body) { emit_body(core, std::move(body)); }, fact);
}

// Why the user or project cannot be removed: an object would have no owner, or would belong to the
// next holder of the name.
std::optional<Error> stands_in_the_way(const State& state, const PrincipalInput::Ask& ask) {
  const auto of = [&](const auto& is_one) {
    return std::count_if(state.jobs().begin(), state.jobs().end(),
                         [&](const auto& entry) { return is_one(entry.second); });
  };
  if (const auto* user = std::get_if<RemoveUser>(&ask)) {
    const auto jobs =
        std::count_if(state.unfinished().begin(), state.unfinished().end(),
                      [&](const JobId& id) { return state.job(id)->spec.submitter == user->name; });
    if (jobs == 0) return std::nullopt;
    return make_error(ErrorCode::conflict,
                      fmt::format("user '{}' has {} that {} not ended; cancel {} first", user->name,
                                  counted(static_cast<std::size_t>(jobs), "job"),
                                  jobs == 1 ? "has" : "have", jobs == 1 ? "it" : "them"));
  }
  if (const auto* project = std::get_if<RemoveProject>(&ask)) {
    const auto jobs = of([&](const Job& job) { return job.spec.project == project->name; });
    if (jobs == 0) return std::nullopt;
    return make_error(
        ErrorCode::conflict,
        fmt::format("project '{}' has {}; delete {} first", project->name,
                    counted(static_cast<std::size_t>(jobs), "job"), jobs == 1 ? "it" : "them"));
  }
  return std::nullopt;
}

// Whether a change is about a user's own key: all users may replace one of their own keys by
// another, and revoke their own keys.
bool is_about_own_key(const Principals& principals, const Caller& caller,
                      const PrincipalInput::Ask& ask) {
  const auto* user = std::get_if<UserCaller>(&caller);
  if (user == nullptr || principals.user(user->name) == nullptr) return false;
  if (const auto* added = std::get_if<AddKey>(&ask)) return added->user == user->name;
  const auto* revoked = std::get_if<RevokeKey>(&ask);
  if (revoked == nullptr) return false;
  // The client asks again because the answer was lost: nothing is left to change.
  if (principals.was_revoked(revoked->key)) return true;
  const User* holder = principals.user_with_key(revoked->key);
  return holder != nullptr && holder->name == user->name;
}

// Warns that jobs which run as the launcher's own account on its machine have the launcher's
// rights.
std::string note_of_account(const CoreConfig& config, const PrincipalInput::Ask& ask) {
  std::string user, account;
  if (const auto* set = std::get_if<SetAccount>(&ask)) {
    user = set->name;
    account = set->account;
  } else if (const auto* added = std::get_if<AddUser>(&ask)) {
    user = added->name;
    account = added->account.empty() ? added->name : added->account;
  }
  const bool is_own = !account.empty() && account == config.account && !config.allow_root;
  if (!is_own || user == account) return "";
  return fmt::format(
      ". Warning: {0} is the account that this launcher runs as: on its machine, and wherever the "
      "account's files are shared, jobs of {1} can read and change its keys and all that it keeps. "
      "Give {1} another account, and run lockstepd and lockstep-agent as root, so that jobs run "
      "as their users",
      account, user);
}

}  // namespace

bool permitted(Context& core, const ReplyTo& reply, const Caller& caller, Permission permission,
               const Object& object) {
  Decision decision = may(core.state.principals(), caller, permission, object);
  if (!decision.allowed) core.refuse(reply, ErrorCode::permission_denied, std::move(decision.why));
  return decision.allowed;
}

Object object_of(const Job& job) {
  return {job.spec.submitter, job.spec.project, job.shared, job.id, job.child_of};
}

Result<std::string> account_for(const Principals& principals, const Caller& caller,
                                const std::string& wanted, bool allow_root) {
  std::string own = wanted;
  if (const auto* user = std::get_if<UserCaller>(&caller))
    if (const User* known = principals.user(user->name)) own = known->account;
  const std::string account = wanted.empty() ? own : wanted;
  if (account == "root" && !allow_root)
    return make_error(ErrorCode::permission_denied,
                      "jobs may not run as root on this launcher; submit as another user, or start "
                      "lockstepd with --allow-root");
  if (account == own) return account;
  const Decision choice = may(principals, caller, Permission::choose_account, {});
  if (!choice.allowed)
    return make_error(ErrorCode::permission_denied,
                      fmt::format("jobs of {} run as {} and not as {}; only an admin may choose "
                                  "another account",
                                  name_of(caller), own, account));
  const bool is_mapped =
      std::any_of(principals.users().begin(), principals.users().end(),
                  [&](const auto& entry) { return entry.second.account == account; });
  if (is_mapped || account == "root") return account;
  return make_error(ErrorCode::permission_denied,
                    fmt::format("no user of this launcher has the account {}; give one to a user "
                                "with `lockstep user account NAME {}`",
                                account, account));
}

namespace {

// Replaces the names in the request by the names of current users.
struct Resolve {
  const Principals& now;

  void name(std::string& name) const { name = current_user_name(now, name); }
  void operator()(AddUser&) const {}
  void operator()(RemoveUser& ask) const { name(ask.name); }
  void operator()(SetAccount& ask) const { name(ask.name); }
  void operator()(ChangeRole& ask) const { name(ask.name); }
  void operator()(AddKey& ask) const { name(ask.user); }
  void operator()(RevokeKey&) const {}
  void operator()(CreateProject&) const {}
  void operator()(RemoveProject&) const {}
  void operator()(SetQuota& ask) const {
    if (ask.holder.kind == QuotaHolder::Kind::user) name(ask.holder.name);
  }
};

}  // namespace

void react(Context& core, const PrincipalInput& said) {
  const Principals& now = core.state.principals();
  PrincipalInput input = said;
  std::visit(Resolve{now}, input.ask);
  if (!is_about_own_key(now, input.caller, input.ask) &&
      !permitted(core, input.reply, input.caller, Permission::manage_users))
    return;
  if (auto error = stands_in_the_way(core.state, input.ask))
    return core.refuse(input.reply, error->code, std::move(error->message));
  const std::string by = name_of(input.caller);
  // The key of a node can never become the key of a user.
  if (const auto* added = std::get_if<AddKey>(&input.ask);
      added != nullptr && (core.state.node_with_key(added->key) != nullptr ||
                           core.state.removed_with_key(added->key) != nullptr))
    return core.refuse(input.reply, ErrorCode::already_exists,
                       "this is the key of a node; a user needs a key of their own");
  auto change = std::visit([&](const auto& ask) { return change_of(now, ask, by); }, input.ask);
  if (!change) return core.refuse(input.reply, change.error().code, change.error().message);
  emit_all(core, std::move(change->facts));
  core.act(ReplyDone{input.reply, change->message + note_of_account(core.config, input.ask)});
}

void react(Context& core, const KeysFileInput& input) {
  KeysFile file = input.file;
  std::erase_if(file.lines, [&](const KeysFile::Line& line) {
    return core.state.node_with_key(line.key) != nullptr ||
           core.state.removed_with_key(line.key) != nullptr;
  });
  AdoptedKeys adopted = adopt(core.state.principals(), core.now, file);
  emit_all(core, std::move(adopted.facts));
}

}  // namespace lockstep::launcher
