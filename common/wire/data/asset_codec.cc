#include "common/wire/data/asset_codec.h"

#include "common/wire/data/name_codec.h"
#include "common/wire/table_codec.h"
#include "proto/asset.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::RegisteredAsset, RegisteredAsset);
LOCKSTEP_TABLE_CODEC(lockstep::AssetView, AssetView);
LOCKSTEP_TABLE_CODEC(lockstep::CreateAsset, CreateAsset);
LOCKSTEP_TABLE_CODEC(lockstep::ListAssets, ListAssets);
LOCKSTEP_TABLE_CODEC(lockstep::ShowAsset, ShowAsset);
LOCKSTEP_TABLE_CODEC(lockstep::ArchiveAsset, ArchiveAsset);
LOCKSTEP_TABLE_CODEC(lockstep::AssetReply, AssetReply);
LOCKSTEP_TABLE_CODEC(lockstep::AssetsReply, AssetsReply);

}  // namespace lockstep::pb
