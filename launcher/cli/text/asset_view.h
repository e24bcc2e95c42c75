#pragma once
// Registered data and models as text.

#include <string>
#include <vector>

#include "common/domain/data/asset.h"

namespace lockstep::cli {

std::string asset_table(AssetKind kind, const std::vector<AssetView>& assets);
std::string asset_text(const AssetView& asset);
// "bob, all of its project": who may add versions to a name beside its owner; "": nobody.
std::string grants_text(const NameGrants& grants);

}  // namespace lockstep::cli
