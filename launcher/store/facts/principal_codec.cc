#include "launcher/store/facts/principal_codec.h"

#include "common/wire/fields.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/people/quota_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::ProjectCreated& from, ProjectCreated* to) {
  to->set_name(from.name);
  to->set_by(from.by);
}
Status from_wire(const ProjectCreated& from, launcher::ProjectCreated* to) {
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::ProjectRemoved& from, ProjectRemoved* to) {
  to->set_name(from.name);
  to->set_by(from.by);
}
Status from_wire(const ProjectRemoved& from, launcher::ProjectRemoved* to) {
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::UserAdded& from, UserAdded* to) {
  to->set_name(from.name);
  to->set_account(from.account);
  to->set_by(from.by);
}
Status from_wire(const UserAdded& from, launcher::UserAdded* to) {
  TRY(read_text(from.name(), "name", &to->name));
  TRY(read_text(from.account(), "account", &to->account));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::UserAccountSet& from, UserAccountSet* to) {
  to->set_name(from.name);
  to->set_account(from.account);
  to->set_by(from.by);
}
Status from_wire(const UserAccountSet& from, launcher::UserAccountSet* to) {
  TRY(read_text(from.name(), "name", &to->name));
  TRY(read_text(from.account(), "account", &to->account));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::UserRemoved& from, UserRemoved* to) {
  to->set_name(from.name);
  to->set_by(from.by);
}
Status from_wire(const UserRemoved& from, launcher::UserRemoved* to) {
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::RoleGranted& from, RoleGranted* to) {
  to->set_user(from.user);
  to_wire(from.grant, to->mutable_grant());
  to->set_by(from.by);
}
Status from_wire(const RoleGranted& from, launcher::RoleGranted* to) {
  TRY(read_text(from.user(), "user", &to->user));
  TRY(from_wire(from.grant(), &to->grant));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::RoleWithdrawn& from, RoleWithdrawn* to) {
  to->set_user(from.user);
  to_wire(from.grant, to->mutable_grant());
  to->set_by(from.by);
}
Status from_wire(const RoleWithdrawn& from, launcher::RoleWithdrawn* to) {
  TRY(read_text(from.user(), "user", &to->user));
  TRY(from_wire(from.grant(), &to->grant));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::UserKeyAdded& from, UserKeyAdded* to) {
  to->set_user(from.user);
  to->set_key(from.key.value);
  to->set_from_file(from.from_file);
  to->set_by(from.by);
}
Status from_wire(const UserKeyAdded& from, launcher::UserKeyAdded* to) {
  TRY(read_text(from.user(), "user", &to->user));
  TRY(read_key(from.key(), "key", &to->key));
  to->from_file = from.from_file();
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::UserKeyRevoked& from, UserKeyRevoked* to) {
  to->set_key(from.key.value);
  to->set_for_good(from.for_good);
  to->set_by(from.by);
}
Status from_wire(const UserKeyRevoked& from, launcher::UserKeyRevoked* to) {
  TRY(read_key(from.key(), "key", &to->key));
  to->for_good = from.for_good();
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::QuotaSet& from, QuotaSet* to) {
  to_wire(from.holder, to->mutable_holder());
  to->set_limit(number_of(from.limit));
  if (from.value) to->set_value(*from.value);
  to->set_by(from.by);
}
Status from_wire(const QuotaSet& from, launcher::QuotaSet* to) {
  TRY(from_wire(from.holder(), &to->holder));
  TRY(read_limit(from.limit(), "limit", &to->limit));
  if (from.has_value()) to->value = from.value();
  return read_text(from.by(), "by", &to->by);
}

}  // namespace lockstep::pb
