#include "launcher/core/access/user_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/grammar/key_word.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kFile = "keys/authorized_users";
constexpr const char* kAgain = "~";  // a character that no chosen name may contain

Error refusal(ErrorCode code, std::string message) { return make_error(code, std::move(message)); }

Result<const User*> must_have(const Principals& now, const std::string& name) {
  if (const User* user = now.user(name)) return user;
  return refusal(ErrorCode::not_found,
                 fmt::format("there is no user '{}'; `lockstep user list` shows all", name));
}

Status check(const Principals& now, const Grant& grant) {
  if (!is_of_project(grant.role)) {
    if (grant.project.empty()) return {};
    return refusal(ErrorCode::invalid_argument,
                   fmt::format("the role {} applies to the whole launcher: leave --project out",
                               to_string(grant.role)));
  }
  if (now.has_project(grant.project)) return {};
  return refusal(ErrorCode::not_found,
                 fmt::format("there is no project '{}'; make it with `lockstep project create {}`",
                             grant.project, grant.project));
}

Status check_new_key(const Principals& now, const PublicKey& key, const std::string& user) {
  if (now.was_revoked(key))
    return refusal(ErrorCode::permission_denied,
                   fmt::format("the key {} was revoked and cannot be used again; make a new one",
                               key_word(key)));
  const User* holder = now.user_with_key(key);
  if (holder == nullptr || holder->name == user) return {};
  return refusal(ErrorCode::already_exists,
                 fmt::format("the key {} belongs to user '{}'; a key can have only one user",
                             key_word(key), holder->name));
}

// True if no admin would be left without this user: then nobody could change users.
bool is_last_admin(const Principals& now, const User& user) {
  return user.has(Role::admin) && !user.keys.empty() && now.admins() == 1;
}

Error last_admin(const std::string& name) {
  return refusal(ErrorCode::conflict,
                 fmt::format("'{}' is the last admin with a key: make another user an admin first "
                             "(`lockstep user role NAME admin`)",
                             name));
}

}  // namespace

std::string current_user_name(const Principals& now, const std::string& name) {
  if (now.user(name) != nullptr || !now.was_removed(name)) return name;
  for (int number = 2;; ++number) {
    std::string later = fmt::format("{}{}{}", name, kAgain, number);
    if (now.user(later) != nullptr) return later;
    if (!now.was_removed(later)) return name;
  }
}

namespace {

// The first name of this form that no user ever had, removed users included.
std::string next_name(const Principals& now, const std::string& name) {
  std::string next = name;
  for (int number = 2; now.was_removed(next); ++number)
    next = fmt::format("{}{}{}", name, kAgain, number);
  return next;
}

}  // namespace

Result<PrincipalChange> change_of(const Principals& now, const AddUser& wanted,
                                  const std::string& by) {
  TRY(validate_user_name(wanted.name));
  AddUser ask = wanted;
  if (ask.account.empty()) ask.account = wanted.name;
  ask.name = next_name(now, wanted.name);
  const std::string account = ask.account;
  TRY(validate_user_name(account));
  TRY(check(now, ask.grant));
  if (ask.key) TRY(check_new_key(now, *ask.key, ask.name));
  PrincipalChange change;
  if (const User* user = now.user(ask.name)) {
    const bool is_same = user->account == account && user->grants.count(ask.grant) != 0 &&
                         (!ask.key || user->keys.count(*ask.key) != 0);
    if (!is_same)
      return refusal(ErrorCode::already_exists,
                     fmt::format("there is a user '{}' already; change it with `lockstep user "
                                 "role`, `user account` or `user key add`",
                                 ask.name));
  } else {
    if (now.users().size() >= kMaxUsers)
      return refusal(ErrorCode::resource_exhausted,
                     fmt::format("there are {} users, the most allowed", kMaxUsers));
    change.facts.push_back(UserAdded{ask.name, account, by});
    change.facts.push_back(RoleGranted{ask.name, ask.grant, by});
    if (ask.key) change.facts.push_back(UserKeyAdded{ask.name, *ask.key, false, by});
  }
  change.message = fmt::format("user {} is {}{}", ask.name, to_string(ask.grant),
                               account == ask.name ? "" : ", account " + account);
  if (ask.name != wanted.name)
    change.message +=
        fmt::format("; a user {} was removed before, and keeps its jobs and names", wanted.name);
  if (!ask.key)
    change.message += fmt::format("; give it a key with `lockstep user key add {} KEY`", ask.name);
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const RemoveUser& ask,
                                  const std::string& by) {
  PrincipalChange change;
  change.message = fmt::format("user {} is removed, its keys are revoked", ask.name);
  if (now.was_removed(ask.name)) return change;
  TRY_ASSIGN(const User* user, must_have(now, ask.name));
  if (is_last_admin(now, *user)) return last_admin(ask.name);
  change.facts.push_back(UserRemoved{ask.name, by});
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const SetAccount& ask,
                                  const std::string& by) {
  TRY(validate_user_name(ask.account));
  TRY_ASSIGN(const User* user, must_have(now, ask.name));
  PrincipalChange change;
  change.message = fmt::format("jobs of {} run as {} from now on", ask.name, ask.account);
  if (user->account != ask.account)
    change.facts.push_back(UserAccountSet{ask.name, ask.account, by});
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const ChangeRole& ask,
                                  const std::string& by) {
  TRY_ASSIGN(const User* user, must_have(now, ask.name));
  PrincipalChange change;
  const bool has = user->grants.count(ask.grant) != 0;
  if (ask.withdraw) {
    const bool takes_admin = has && ask.grant.role == Role::admin;
    if (takes_admin && is_last_admin(now, *user)) return last_admin(ask.name);
    if (has) change.facts.push_back(RoleWithdrawn{ask.name, ask.grant, by});
    change.message = fmt::format("{} is no longer {}", ask.name, to_string(ask.grant));
    return change;
  }
  TRY(check(now, ask.grant));
  if (!has) change.facts.push_back(RoleGranted{ask.name, ask.grant, by});
  change.message = fmt::format("{} is {}", ask.name, to_string(ask.grant));
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const AddKey& ask, const std::string& by) {
  TRY_ASSIGN(const User* user, must_have(now, ask.user));
  TRY(check_new_key(now, ask.key, ask.user));
  PrincipalChange change;
  if (ask.replaces && *ask.replaces == ask.key)
    return refusal(ErrorCode::invalid_argument,
                   "the new key is the same as the old key; make another key");
  if (user->keys.count(ask.key) == 0) {
    if (user->keys.size() >= kMaxKeysPerUser)
      return refusal(ErrorCode::resource_exhausted,
                     fmt::format("'{}' has {} keys, the most allowed; revoke one first", ask.user,
                                 kMaxKeysPerUser));
    change.facts.push_back(UserKeyAdded{ask.user, ask.key, false, by});
  }
  change.message = fmt::format("{} has the key {}", ask.user, key_word(ask.key));
  if (!ask.replaces) return change;
  const bool is_theirs = user->keys.count(*ask.replaces) != 0;
  if (!is_theirs && !now.was_revoked(*ask.replaces))
    return refusal(ErrorCode::not_found,
                   fmt::format("'{}' has no key {} to replace", ask.user, key_word(*ask.replaces)));
  if (is_theirs) change.facts.push_back(UserKeyRevoked{*ask.replaces, true, by});
  change.message += fmt::format(" instead of {}", key_word(*ask.replaces));
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const RevokeKey& ask,
                                  const std::string& by) {
  PrincipalChange change;
  change.message = fmt::format(
      "the key {} is revoked; if it was stolen, look for keys that the thief has added: `lockstep "
      "user show NAME`",
      key_word(ask.key));
  if (now.was_revoked(ask.key)) return change;
  const User* holder = now.user_with_key(ask.key);
  if (holder == nullptr)
    return refusal(ErrorCode::not_found,
                   fmt::format("no user has the key {}; `lockstep user show NAME` lists keys",
                               key_word(ask.key)));
  if (holder->keys.size() == 1 && is_last_admin(now, *holder)) return last_admin(holder->name);
  change.facts.push_back(UserKeyRevoked{ask.key, true, by});
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const CreateProject& ask,
                                  const std::string& by) {
  TRY(validate_project_name(ask.name));
  PrincipalChange change;
  change.message = fmt::format("the project {} is ready for use", ask.name);
  if (now.has_project(ask.name)) return change;
  if (now.projects().size() >= kMaxProjects)
    return refusal(ErrorCode::resource_exhausted,
                   fmt::format("there are {} projects, the most allowed", kMaxProjects));
  change.facts.push_back(ProjectCreated{ask.name, by});
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const RemoveProject& ask,
                                  const std::string& by) {
  if (ask.name == kDefaultProject)
    return refusal(ErrorCode::invalid_argument, "the project default cannot be removed");
  PrincipalChange change;
  change.message = fmt::format("the project {} is removed", ask.name);
  if (!now.has_project(ask.name))
    return refusal(
        ErrorCode::not_found,
        fmt::format("there is no project '{}'; `lockstep project list` shows all", ask.name));
  change.facts.push_back(ProjectRemoved{ask.name, by});
  return change;
}

Result<PrincipalChange> change_of(const Principals& now, const SetQuota& ask,
                                  const std::string& by) {
  if (ask.holder.kind == QuotaHolder::Kind::user)
    TRY(must_have(now, ask.holder.name));
  else if (!now.has_project(ask.holder.name))
    return refusal(ErrorCode::not_found,
                   fmt::format("there is no project '{}'; `lockstep project list` shows all",
                               ask.holder.name));
  const auto known = now.quotas().find(ask.holder);
  const Quota quota = known == now.quotas().end() ? Quota{} : known->second;
  PrincipalChange change;
  std::string text;
  const auto say = [&](QuotaLimit limit, const std::string& what) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(limit), what);
  };
  for (const auto& [limit, value] : ask.set) {
    if (value > kMaxQuotaValue)
      return refusal(ErrorCode::invalid_argument,
                     fmt::format("{}: {} is more than the largest possible quota ({}); to remove "
                                 "the limit, use `lockstep quota unset`",
                                 to_string(limit), value, kMaxQuotaValue));
    if (limit == QuotaLimit::kept_jobs && ask.holder.kind != QuotaHolder::Kind::user)
      return refusal(
          ErrorCode::invalid_argument,
          fmt::format("{} is a limit of users alone: give --user NAME", to_string(limit)));
    say(limit, amount(limit, value));
    const auto before = quota.find(limit);
    if (before == quota.end() || before->second != value)
      change.facts.push_back(QuotaSet{ask.holder, limit, value, by});
  }
  for (const QuotaLimit limit : ask.unset) {
    if (ask.set.count(limit) != 0)
      return refusal(ErrorCode::invalid_argument,
                     fmt::format("{} is both set and unset; choose one", to_string(limit)));
    say(limit, "as by default");
    if (quota.count(limit) != 0)
      change.facts.push_back(QuotaSet{ask.holder, limit, std::nullopt, by});
  }
  if (text.empty()) return refusal(ErrorCode::invalid_argument, "a quota needs at least one limit");
  change.message = fmt::format("quota of {}: {}", to_string(ask.holder), text);
  return change;
}

// ---- keys/authorized_users ----------------------------------------------------------------------

namespace {

// Why a line of the file is ignored; "": it is not.
std::string why_skipped(const Principals& now, const KeysFile::Line& line) {
  if (now.was_revoked(line.key)) return "the key was revoked";
  if (now.was_removed(line.name))
    return "this user was removed; an admin adds it again with `lockstep user add`";
  const Status named = validate_user_name(line.name);
  return named ? "" : named.error().message;
}

// The users' keys while facts are made from the file; each fact is applied at once.
class Adoption {
 public:
  Adoption(Principals now, Instant at) : now_(std::move(now)), at_(at) {}

  void add(const KeysFile& file, const KeysFile::Line& line) {
    if (const User* holder = now_.user_with_key(line.key)) {
      if (holder->name != line.name) skip(line, "the key is user '" + holder->name + "'s");
      return;
    }
    if (const std::string why = why_skipped(now_, line); !why.empty()) return skip(line, why);
    if (now_.user(line.name) == nullptr) {
      const bool is_admin = line.name == file.owner || line.name == "root";
      emit(UserAdded{line.name, line.name, kFile});
      emit(RoleGranted{
          line.name,
          is_admin ? Grant{Role::admin, ""} : Grant{Role::submitter, std::string(kDefaultProject)},
          kFile});
    }
    emit(UserKeyAdded{line.name, line.key, true, kFile});
  }

  void revoke_unlisted(const KeysFile& file) {
    for (const auto& [key, name] : std::map<PublicKey, std::string>(now_.keys())) {
      const bool listed =
          std::any_of(file.lines.begin(), file.lines.end(),
                      [&, wanted = key](const auto& line) { return line.key == wanted; });
      if (!listed && now_.user(name)->keys.at(key).from_file)
        emit(UserKeyRevoked{key, false, kFile});
    }
  }

  AdoptedKeys result() && { return std::move(adopted_); }

 private:
  void emit(PrincipalFact fact) {
    std::visit([&](const auto& body) { now_.apply(at_, body); }, fact);
    adopted_.facts.push_back(std::move(fact));
  }
  void skip(const KeysFile::Line& line, std::string_view why) {
    adopted_.skipped.push_back(fmt::format("{} {}: {}", line.name, key_word(line.key), why));
  }

  Principals now_;
  const Instant at_;
  AdoptedKeys adopted_;
};

}  // namespace

AdoptedKeys adopt(Principals now, Instant at, const KeysFile& file) {
  Adoption adoption(std::move(now), at);
  for (const auto& line : file.lines) adoption.add(file, line);
  adoption.revoke_unlisted(file);
  return std::move(adoption).result();
}

}  // namespace lockstep::launcher
