#pragma once
// Registered data and models as text.

#include <string>
#include <vector>

#include "common/domain/asset.h"

namespace lockstep::cli {

std::string asset_table(AssetKind kind, const std::vector<AssetView>& assets);
std::string asset_text(const AssetView& asset);

}  // namespace lockstep::cli
