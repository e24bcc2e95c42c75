#pragma once
// The fabric of a node, as JSON: of `lockstep node show`.

#include <nlohmann/json_fwd.hpp>

#include "common/domain/targets/fabric.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const NodeFabric& fabric);

}  // namespace lockstep::api
