#include "launcher/store/facts/asset_fact_codec.h"

#include "common/wire/data/asset_codec.h"
#include "common/wire/data/name_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::AssetRegistered& from, AssetRegistered* to) {
  to_wire(from.asset, to->mutable_asset());
  to->set_by(from.by);
  to->set_project(from.project);
  to->set_owner(from.owner);
  to->set_foreign(from.foreign);
  if (from.files) to->set_files_bytes(from.files->count);
}
Status from_wire(const AssetRegistered& from, launcher::AssetRegistered* to) {
  TRY(from_wire(from.asset(), &to->asset));
  TRY(read_text(from.by(), "asset.by", &to->by));
  TRY(read_text(from.owner(), "asset.owner", &to->owner));
  to->foreign = from.foreign();
  if (from.has_files_bytes()) to->files = launcher::counted_files(Bytes{from.files_bytes()});
  return read_text(from.project(), "asset.project", &to->project);
}

void to_wire(const launcher::AssetArchived& from, AssetArchived* to) {
  to->set_kind(wire_enum<AssetKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_archived(from.archived);
}
Status from_wire(const AssetArchived& from, launcher::AssetArchived* to) {
  TRY(read_word(from.kind(), "archived.kind", &to->kind));
  TRY(read_text(from.name(), "archived.name", &to->name));
  to->archived = from.archived();
  return read_text(from.version(), "archived.version", &to->version);
}

void to_wire(const launcher::NameShared& from, NameShared* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_user(from.user);
  to->set_shared(from.shared);
  to->set_by(from.by);
}
Status from_wire(const NameShared& from, launcher::NameShared* to) {
  TRY(read_word(from.kind(), "shared.kind", &to->kind));
  TRY(read_text(from.name(), "shared.name", &to->name));
  TRY(read_text(from.user(), "shared.user", &to->user));
  to->shared = from.shared();
  return read_text(from.by(), "shared.by", &to->by);
}

void to_wire(const launcher::VersionsDeleted& from, VersionsDeleted* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_by(from.by);
}
Status from_wire(const VersionsDeleted& from, launcher::VersionsDeleted* to) {
  TRY(read_word(from.kind(), "deleted.kind", &to->kind));
  TRY(read_text(from.name(), "deleted.name", &to->name));
  TRY(read_text(from.version(), "deleted.version", &to->version));
  return read_text(from.by(), "deleted.by", &to->by);
}

void to_wire(const launcher::NameSettled& from, NameSettled* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_owner(from.owner);
  to->set_project(from.project);
  to_wire(from.grants, to->mutable_grants());
  to->set_last_number(from.last_number);
}
Status from_wire(const NameSettled& from, launcher::NameSettled* to) {
  TRY(read_word(from.kind(), "settled.kind", &to->kind));
  TRY(read_text(from.name(), "settled.name", &to->name));
  TRY(read_text(from.owner(), "settled.owner", &to->owner));
  TRY(read_text(from.project(), "settled.project", &to->project));
  to->last_number = from.last_number();
  return from_wire(from.grants(), &to->grants);
}

void to_wire(const launcher::EnvironmentArchived& from, EnvironmentArchived* to) {
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_archived(from.archived);
}
Status from_wire(const EnvironmentArchived& from, launcher::EnvironmentArchived* to) {
  TRY(read_text(from.name(), "archived.name", &to->name));
  to->archived = from.archived();
  return read_text(from.version(), "archived.version", &to->version);
}

void to_wire(const launcher::VersionAnnotated& from, VersionAnnotated* to) {
  to->set_kind(wire_enum<NameKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_description(from.description);
  write_map(from.tags, to->mutable_tags());
  to->set_by(from.by);
}
Status from_wire(const VersionAnnotated& from, launcher::VersionAnnotated* to) {
  constexpr std::size_t kMostTags = 1'000;  // an environment may have so many
  TRY(read_word(from.kind(), "annotated.kind", &to->kind));
  TRY(read_text(from.name(), "annotated.name", &to->name));
  TRY(read_text(from.version(), "annotated.version", &to->version));
  TRY(read_text(from.description(), "annotated.description", &to->description));
  TRY(read_map(from.tags(), kMostTags, "annotated.tags", &to->tags));
  return read_text(from.by(), "annotated.by", &to->by);
}

}  // namespace lockstep::pb
