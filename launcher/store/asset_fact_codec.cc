#include "launcher/store/asset_fact_codec.h"

#include "common/wire/asset_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::AssetRegistered& from, AssetRegistered* to) {
  to_wire(from.asset, to->mutable_asset());
  to->set_by(from.by);
  to->set_project(from.project);
}
Status from_wire(const AssetRegistered& from, launcher::AssetRegistered* to) {
  TRY(from_wire(from.asset(), &to->asset));
  TRY(read_text(from.by(), "asset.by", &to->by));
  return read_text(from.project(), "asset.project", &to->project);
}

void to_wire(const launcher::AssetArchived& from, AssetArchived* to) {
  to->set_kind(wire_enum<AssetKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_archived(from.archived);
}
Status from_wire(const AssetArchived& from, launcher::AssetArchived* to) {
  TRY(read_asset_kind(from.kind(), "archived.kind", &to->kind));
  TRY(read_text(from.name(), "archived.name", &to->name));
  to->archived = from.archived();
  return read_text(from.version(), "archived.version", &to->version);
}

}  // namespace lockstep::pb
