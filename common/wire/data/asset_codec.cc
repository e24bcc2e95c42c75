#include "common/wire/data/asset_codec.h"

#include <algorithm>

#include "common/wire/data/name_codec.h"

namespace lockstep::pb {
namespace {

static_assert(is_wire_of(lockstep::AssetKind::data, ASSET_KIND_DATA));
static_assert(is_wire_of(lockstep::AssetKind::model, ASSET_KIND_MODEL));
static_assert(is_wire_of(lockstep::AssetKind::component, ASSET_KIND_COMPONENT));
static_assert(is_wire_of(lockstep::ComponentType::command, COMPONENT_TYPE_COMMAND));
static_assert(is_wire_of(lockstep::ComponentType::pipeline, COMPONENT_TYPE_PIPELINE));
static_assert(is_wire_of(lockstep::ArchivedToo::no, ARCHIVED_TOO_NO));
static_assert(is_wire_of(lockstep::ArchivedToo::yes, ARCHIVED_TOO_YES));
static_assert(is_wire_of(lockstep::ArchivedToo::only, ARCHIVED_TOO_ONLY));

}  // namespace

void to_wire(const lockstep::RegisteredAsset& from, RegisteredAsset* to) {
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_type(wire_enum<InputType>(from.type));
  to->set_path(from.path);
  if (from.tree) to->set_tree(std::string(from.tree->view()));
  to->set_file(from.file);
  to->set_description(from.description);
  write_map(from.tags, to->mutable_tags());
  if (from.component) to->set_component(wire_enum<ComponentType>(*from.component));
}
Status from_wire(const RegisteredAsset& from, lockstep::RegisteredAsset* to) {
  TRY(read_text(from.name(), "asset.name", &to->name));
  TRY(read_text(from.version(), "asset.version", &to->version));
  TRY(read_enum(from.type(), lockstep::InputType::triton_model, "asset.type", &to->type));
  TRY(read_text(from.path(), "asset.path", &to->path));
  if (from.has_tree()) TRY(read_digest(from.tree(), "asset.tree", &to->tree.emplace()));
  TRY(read_text(from.file(), "asset.file", &to->file));
  TRY(read_text(from.description(), "asset.description", &to->description));
  if (from.component() != COMPONENT_TYPE_UNSPECIFIED)
    TRY(read_enum(from.component(), lockstep::ComponentType::pipeline, "asset.component",
                  &to->component.emplace()));
  return read_map(from.tags(), kMaxAssetTags, "asset.tags", &to->tags);
}

Status read_asset_kind(int value, const char* field, lockstep::AssetKind* out) {
  return read_enum(value, lockstep::AssetKind::component, field, out);
}

void to_wire(const lockstep::AssetView& from, AssetView* to) {
  to_wire(from.asset, to->mutable_asset());
  to->set_created_ns(from.created.ns);
  to->set_created_by(from.created_by);
  to->set_project(from.project);
  to->set_archived(from.archived);
  to->set_made_by(from.made_by.value);
  to->set_owner(from.owner);
  to_wire(from.grants, to->mutable_grants());
  if (from.files) to->set_files_bytes(from.files->count);
  if (!from.used_by) return;
  AssetUses* const uses = to->mutable_used_by();
  for (const JobId& job : *from.used_by) uses->add_jobs(job.value);
}
Status from_wire(const AssetView& from, lockstep::AssetView* to) {
  TRY(from_wire(from.asset(), &to->asset));
  TRY(read_instant(from.created_ns(), "asset.created", &to->created));
  TRY(read_text(from.created_by(), "asset.created_by", &to->created_by));
  TRY(read_text(from.project(), "asset.project", &to->project));
  to->archived = from.archived();
  TRY(read_text(from.made_by(), "asset.made_by", &to->made_by.value));
  TRY(read_text(from.owner(), "asset.owner", &to->owner, 256));
  TRY(from_wire(from.grants(), &to->grants));
  if (from.has_files_bytes()) to->files = Bytes{from.files_bytes()};
  if (!from.has_used_by()) return {};
  TRY(check_count(from.used_by().jobs_size(), kMaxJobsInLineage, "asset.used_by"));
  to->used_by.emplace();
  for (const std::string& job : from.used_by().jobs())
    TRY(read_text(job, "asset.used_by", &to->used_by->emplace_back().value));
  return {};
}

void to_wire(const lockstep::CreateAsset& from, CreateAsset* to) {
  to_wire(from.asset, to->mutable_asset());
  to->set_project(from.project);
}
Status from_wire(const CreateAsset& from, lockstep::CreateAsset* to) {
  TRY(read_text(from.project(), "project", &to->project, 256));
  return from_wire(from.asset(), &to->asset);
}

void to_wire(const lockstep::ListAssets& from, ListAssets* to) {
  to->set_kind(wire_enum<AssetKind>(from.kind));
  to->set_name(from.name);
  to->set_archived(wire_enum<ArchivedToo>(from.archived));
}
Status from_wire(const ListAssets& from, lockstep::ListAssets* to) {
  TRY(read_asset_kind(from.kind(), "kind", &to->kind));
  TRY(read_enum(from.archived(), lockstep::ArchivedToo::only, "archived", &to->archived));
  return read_text(from.name(), "name", &to->name);
}

void to_wire(const lockstep::ShowAsset& from, ShowAsset* to) {
  to->set_kind(wire_enum<AssetKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
}
Status from_wire(const ShowAsset& from, lockstep::ShowAsset* to) {
  TRY(read_asset_kind(from.kind(), "kind", &to->kind));
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.version(), "version", &to->version);
}

void to_wire(const lockstep::ArchiveAsset& from, ArchiveAsset* to) {
  to->set_kind(wire_enum<AssetKind>(from.kind));
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_archived(from.archived);
}
Status from_wire(const ArchiveAsset& from, lockstep::ArchiveAsset* to) {
  TRY(read_asset_kind(from.kind(), "kind", &to->kind));
  to->archived = from.archived();
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.version(), "version", &to->version);
}

void to_wire(const lockstep::AssetReply& from, AssetReply* to) {
  to_wire(from.asset, to->mutable_asset());
}
Status from_wire(const AssetReply& from, lockstep::AssetReply* to) {
  return from_wire(from.asset(), &to->asset);
}

void to_wire(const lockstep::AssetsReply& from, AssetsReply* to) {
  write_list(from.assets, to->mutable_assets());
  to->set_more(from.more);
}
Status from_wire(const AssetsReply& from, lockstep::AssetsReply* to) {
  to->more = std::max<std::int64_t>(from.more(), 0);
  return read_list(from.assets(), kMaxAssetsInReply, "assets", &to->assets);
}

}  // namespace lockstep::pb
