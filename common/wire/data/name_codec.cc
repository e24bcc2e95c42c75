#include "common/wire/data/name_codec.h"

namespace lockstep::pb {
namespace {

static_assert(is_wire_of(lockstep::NameKind::environment, NAME_KIND_ENVIRONMENT));
static_assert(is_wire_of(lockstep::NameKind::data, NAME_KIND_DATA));
static_assert(is_wire_of(lockstep::NameKind::model, NAME_KIND_MODEL));
static_assert(is_wire_of(lockstep::NameKind::component, NAME_KIND_COMPONENT));

}  // namespace

Status read_name_kind(int value, const char* field, lockstep::NameKind* out) {
  return read_enum(value, lockstep::NameKind::component, field, out);
}

void to_wire(const lockstep::NameGrants& from, NameGrants* to) {
  to->set_project(from.project);
  for (const std::string& user : from.users) to->add_users(user);
}
Status from_wire(const NameGrants& from, lockstep::NameGrants* to) {
  TRY(check_count(from.users_size(), kMaxNameGrants, "grants.users"));
  to->project = from.project();
  for (const std::string& one : from.users()) {
    std::string user;
    TRY(read_text(one, "grants.users", &user, 256));
    to->users.insert(std::move(user));
  }
  return {};
}

void to_wire(const lockstep::ShareName& from, ShareName* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_user(from.user);
  to->set_shared(from.shared);
}
Status from_wire(const ShareName& from, lockstep::ShareName* to) {
  TRY(read_name_kind(from.kind(), "kind", &to->kind));
  TRY(read_text(from.name(), "name", &to->name));
  to->shared = from.shared();
  return read_text(from.user(), "user", &to->user, 256);
}

void to_wire(const lockstep::DeleteVersions& from, DeleteVersions* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
}
Status from_wire(const DeleteVersions& from, lockstep::DeleteVersions* to) {
  TRY(read_name_kind(from.kind(), "kind", &to->kind));
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.version(), "version", &to->version);
}

void to_wire(const lockstep::AnnotateVersion& from, AnnotateVersion* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  if (from.description) to->set_description(*from.description);
  write_map(from.set_tags, to->mutable_set_tags());
  write_texts(from.remove_tags, to->mutable_remove_tags());
  to->set_clear_tags(from.clear_tags);
}
Status from_wire(const AnnotateVersion& from, lockstep::AnnotateVersion* to) {
  TRY(read_name_kind(from.kind(), "kind", &to->kind));
  TRY(read_text(from.name(), "name", &to->name));
  TRY(read_text(from.version(), "version", &to->version));
  if (from.has_description())
    TRY(read_text(from.description(), "description", &to->description.emplace()));
  TRY(read_map(from.set_tags(), kMaxAssetTags, "tags", &to->set_tags));
  TRY(read_texts(from.remove_tags(), kMaxAssetTags, "remove_tags", &to->remove_tags));
  to->clear_tags = from.clear_tags();
  return {};
}

}  // namespace lockstep::pb
