#pragma once
// Registered data and models on the wire. Journals also use the encoding of RegisteredAsset.

#include "common/domain/data/asset.h"
#include "common/wire/fields.h"
#include "proto/asset.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::RegisteredAsset& from, RegisteredAsset* to);
Status from_wire(const RegisteredAsset& from, lockstep::RegisteredAsset* to);
Status read_asset_kind(int value, const char* field, lockstep::AssetKind* out);
void to_wire(const lockstep::AssetView& from, AssetView* to);
Status from_wire(const AssetView& from, lockstep::AssetView* to);

void to_wire(const lockstep::CreateAsset& from, CreateAsset* to);
Status from_wire(const CreateAsset& from, lockstep::CreateAsset* to);
void to_wire(const lockstep::ListAssets& from, ListAssets* to);
Status from_wire(const ListAssets& from, lockstep::ListAssets* to);
void to_wire(const lockstep::ShowAsset& from, ShowAsset* to);
Status from_wire(const ShowAsset& from, lockstep::ShowAsset* to);
void to_wire(const lockstep::ArchiveAsset& from, ArchiveAsset* to);
Status from_wire(const ArchiveAsset& from, lockstep::ArchiveAsset* to);
void to_wire(const lockstep::AssetReply& from, AssetReply* to);
Status from_wire(const AssetReply& from, lockstep::AssetReply* to);
void to_wire(const lockstep::AssetsReply& from, AssetsReply* to);
Status from_wire(const AssetsReply& from, lockstep::AssetsReply* to);

}  // namespace lockstep::pb
