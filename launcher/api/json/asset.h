#pragma once
// Registered data and models as JSON.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/data/asset.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// Who may add versions to a name beside its owner.
Json to_json(const NameGrants& grants);
// With the keys that az ml prints; ours are below "lockstep".
Json to_json(const AssetView& view);
Json to_json(const std::vector<AssetView>& views);

}  // namespace lockstep::api
