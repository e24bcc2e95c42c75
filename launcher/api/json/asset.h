#pragma once
// Registered data and models as JSON.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/asset.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// With the keys that az ml prints; ours are below "lockstep".
Json to_json(const AssetView& view);
Json to_json(const std::vector<AssetView>& views);

}  // namespace lockstep::api
