#include "common/wire/people/access_codec.h"

#include "common/wire/people/quota_codec.h"

namespace lockstep::pb {

namespace {

// On the wire and in journals, for ever; the enum's own order may change.
int number_of(Role role) {
  switch (role) {
    case Role::viewer: return 1;
    case Role::submitter: return 2;
    case Role::operator_: return 3;
    case Role::admin: return 4;
    case Role::priority: return 5;
  }
  return 0;
}

// Peers of earlier versions refuse a message with a role that they do not know. Such grants have a
// list of their own, which those peers skip.
bool is_newer(Role role) { return role == Role::priority; }

Status read_key_if(bool has, const std::string& value, std::optional<PublicKey>* to) {
  return has ? read_key(value, "key", &to->emplace()) : Status();
}

void to_wire(const lockstep::AddUser& from, AddUser* to) {
  to->set_name(from.name);
  to->set_account(from.account);
  if (from.key) to->set_key(from.key->value);
  to_wire(from.grant, to->mutable_grant());
}
Status from_wire(const AddUser& from, lockstep::AddUser* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  TRY(read_text(from.account(), "account", &to->account, 256));
  TRY(read_key_if(from.has_key(), from.key(), &to->key));
  TRY(from_wire(from.grant(), &to->grant));
  return {};
}

void to_wire(const lockstep::RemoveUser& from, RemoveUser* to) { to->set_name(from.name); }
Status from_wire(const RemoveUser& from, lockstep::RemoveUser* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  return {};
}

void to_wire(const lockstep::SetAccount& from, SetAccount* to) {
  to->set_name(from.name);
  to->set_account(from.account);
}
Status from_wire(const SetAccount& from, lockstep::SetAccount* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  TRY(read_text(from.account(), "account", &to->account, 256));
  return {};
}

void to_wire(const lockstep::ChangeRole& from, ChangeRole* to) {
  to->set_name(from.name);
  to_wire(from.grant, to->mutable_grant());
  to->set_withdraw(from.withdraw);
}
Status from_wire(const ChangeRole& from, lockstep::ChangeRole* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  TRY(from_wire(from.grant(), &to->grant));
  to->withdraw = from.withdraw();
  return {};
}

void to_wire(const lockstep::AddKey& from, AddKey* to) {
  to->set_user(from.user);
  to->set_key(from.key.value);
  if (from.replaces) to->set_replaces(from.replaces->value);
}
Status from_wire(const AddKey& from, lockstep::AddKey* to) {
  TRY(read_text(from.user(), "user", &to->user, 256));
  TRY(read_key(from.key(), "key", &to->key));
  TRY(read_key_if(from.has_replaces(), from.replaces(), &to->replaces));
  return {};
}

void to_wire(const lockstep::RevokeKey& from, RevokeKey* to) { to->set_key(from.key.value); }
Status from_wire(const RevokeKey& from, lockstep::RevokeKey* to) {
  TRY(read_key(from.key(), "key", &to->key));
  return {};
}

void to_wire(const lockstep::CreateProject& from, CreateProject* to) { to->set_name(from.name); }
Status from_wire(const CreateProject& from, lockstep::CreateProject* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  return {};
}

void to_wire(const lockstep::RemoveProject& from, RemoveProject* to) { to->set_name(from.name); }
Status from_wire(const RemoveProject& from, lockstep::RemoveProject* to) {
  TRY(read_text(from.name(), "name", &to->name, 256));
  return {};
}

struct ChangeWriter {
  ChangePrincipals* wire;
  void operator()(const lockstep::AddUser& m) const { to_wire(m, wire->mutable_add_user()); }
  void operator()(const lockstep::RemoveUser& m) const { to_wire(m, wire->mutable_remove_user()); }
  void operator()(const lockstep::SetAccount& m) const { to_wire(m, wire->mutable_set_account()); }
  void operator()(const lockstep::ChangeRole& m) const { to_wire(m, wire->mutable_change_role()); }
  void operator()(const lockstep::AddKey& m) const { to_wire(m, wire->mutable_add_key()); }
  void operator()(const lockstep::RevokeKey& m) const { to_wire(m, wire->mutable_revoke_key()); }
  void operator()(const lockstep::CreateProject& m) const {
    to_wire(m, wire->mutable_create_project());
  }
  void operator()(const lockstep::RemoveProject& m) const {
    to_wire(m, wire->mutable_remove_project());
  }
  void operator()(const lockstep::SetQuota& m) const { to_wire(m, wire->mutable_set_quota()); }
};

}  // namespace

// The enum's own order may change, as of roles.
int number_of(Approval approval) {
  switch (approval) {
    case Approval::as_configured: return 0;
    case Approval::required: return 1;
    case Approval::waived: return 2;
  }
  return 0;
}
Status read_approval(int number, const char* field, Approval* to) {
  for (const Approval one : {Approval::as_configured, Approval::required, Approval::waived}) {
    if (number_of(one) != number) continue;
    *to = one;
    return {};
  }
  return bad_field(field, "has a value that this version does not know");
}

void to_wire(const lockstep::Grant& from, Grant* to) {
  to->set_role(number_of(from.role));
  to->set_project(from.project);
}
Status from_wire(const Grant& from, lockstep::Grant* to) {
  for (const Role role : kRoles) {
    if (number_of(role) != from.role()) continue;
    to->role = role;
    return read_text(from.project(), "grant.project", &to->project, 256);
  }
  return bad_field("grant.role", "has a value that this version does not know");
}

void to_wire(const lockstep::UserView& from, UserView* to) {
  to->set_name(from.name);
  to->set_account(from.account);
  for (const lockstep::Grant& grant : from.grants)
    to_wire(grant, is_newer(grant.role) ? to->add_newer_grants() : to->add_grants());
  for (const auto& key : from.keys) {
    UserKey* one = to->add_keys();
    one->set_key(key.key.value);
    one->set_added_ns(key.added.ns);
    one->set_by(key.by);
  }
  to->set_added_ns(from.added.ns);
  to->set_by(from.by);
}
Status from_wire(const UserView& from, lockstep::UserView* to) {
  TRY(read_text(from.name(), "user.name", &to->name, 256));
  TRY(read_text(from.account(), "user.account", &to->account, 256));
  TRY(read_list(from.grants(), 2 * kMaxProjects + 2, "user.grants", &to->grants));
  TRY(check_count(from.newer_grants_size(), kMaxProjects + 1, "user.newer_grants"));
  for (const Grant& grant : from.newer_grants()) {
    lockstep::Grant known;
    if (from_wire(grant, &known)) to->grants.push_back(std::move(known));
  }
  TRY(check_count(from.keys_size(), kMaxKeysPerUser, "user.keys"));
  for (const UserKey& key : from.keys()) {
    auto& one = to->keys.emplace_back();
    TRY(read_key(key.key(), "user.key", &one.key));
    TRY(read_instant(key.added_ns(), "user.key.added", &one.added));
    TRY(read_text(key.by(), "user.key.by", &one.by, 256));
  }
  TRY(read_instant(from.added_ns(), "user.added", &to->added));
  return read_text(from.by(), "user.by", &to->by, 256);
}

void to_wire(const lockstep::ProjectView& from, ProjectView* to) {
  to->set_name(from.name);
  to->set_created_ns(from.created.ns);
  to->set_by(from.by);
  write_texts(from.users, to->mutable_users());
}
Status from_wire(const ProjectView& from, lockstep::ProjectView* to) {
  TRY(read_text(from.name(), "project.name", &to->name, 256));
  TRY(read_instant(from.created_ns(), "project.created", &to->created));
  TRY(read_text(from.by(), "project.by", &to->by, 256));
  return read_texts(from.users(), kMaxUsers, "project.users", &to->users);
}

void to_wire(const lockstep::WhoAmI&, WhoAmI*) {}
Status from_wire(const WhoAmI&, lockstep::WhoAmI*) { return {}; }
void to_wire(const lockstep::ListUsers& from, ListUsers* to) { to->set_name(from.name); }
Status from_wire(const ListUsers& from, lockstep::ListUsers* to) {
  return read_text(from.name(), "name", &to->name, 256);
}
void to_wire(const lockstep::ListProjects&, ListProjects*) {}
Status from_wire(const ListProjects&, lockstep::ListProjects*) { return {}; }

void to_wire(const lockstep::ChangePrincipals& from, ChangePrincipals* to) {
  std::visit(ChangeWriter{to}, from.change);
}
Status from_wire(const ChangePrincipals& from, lockstep::ChangePrincipals* to) {
  switch (from.change_case()) {
    case ChangePrincipals::kAddUser:
      return from_wire(from.add_user(), &to->change.emplace<lockstep::AddUser>());
    case ChangePrincipals::kRemoveUser:
      return from_wire(from.remove_user(), &to->change.emplace<lockstep::RemoveUser>());
    case ChangePrincipals::kSetAccount:
      return from_wire(from.set_account(), &to->change.emplace<lockstep::SetAccount>());
    case ChangePrincipals::kChangeRole:
      return from_wire(from.change_role(), &to->change.emplace<lockstep::ChangeRole>());
    case ChangePrincipals::kAddKey:
      return from_wire(from.add_key(), &to->change.emplace<lockstep::AddKey>());
    case ChangePrincipals::kRevokeKey:
      return from_wire(from.revoke_key(), &to->change.emplace<lockstep::RevokeKey>());
    case ChangePrincipals::kCreateProject:
      return from_wire(from.create_project(), &to->change.emplace<lockstep::CreateProject>());
    case ChangePrincipals::kRemoveProject:
      return from_wire(from.remove_project(), &to->change.emplace<lockstep::RemoveProject>());
    case ChangePrincipals::kSetQuota:
      return from_wire(from.set_quota(), &to->change.emplace<lockstep::SetQuota>());
    case ChangePrincipals::CHANGE_NOT_SET: break;
  }
  return bad_field("change", "is missing or of a kind that this version does not know");
}

void to_wire(const lockstep::UsersReply& from, UsersReply* to) {
  write_list(from.users, to->mutable_users());
}
Status from_wire(const UsersReply& from, lockstep::UsersReply* to) {
  return read_list(from.users(), kMaxUsers, "users", &to->users);
}
void to_wire(const lockstep::ProjectsReply& from, ProjectsReply* to) {
  write_list(from.projects, to->mutable_projects());
}
Status from_wire(const ProjectsReply& from, lockstep::ProjectsReply* to) {
  return read_list(from.projects(), kMaxProjects + 1, "projects", &to->projects);
}

}  // namespace lockstep::pb
