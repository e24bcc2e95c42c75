#pragma once
// Registered data and models on the wire. Journals also use the encoding of RegisteredAsset.

#include "common/domain/data/asset.h"
#include "common/wire/fields.h"
#include "proto/asset.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::RegisteredAsset, RegisteredAsset);
LOCKSTEP_CODEC(lockstep::AssetView, AssetView);

LOCKSTEP_CODEC(lockstep::CreateAsset, CreateAsset);
LOCKSTEP_CODEC(lockstep::ListAssets, ListAssets);
LOCKSTEP_CODEC(lockstep::ShowAsset, ShowAsset);
LOCKSTEP_CODEC(lockstep::ArchiveAsset, ArchiveAsset);
LOCKSTEP_CODEC(lockstep::AssetReply, AssetReply);
LOCKSTEP_CODEC(lockstep::AssetsReply, AssetsReply);

}  // namespace lockstep::pb
