#pragma once
// The fabric of a node, as JSON: of `lockstep node show`.

#include "common/domain/targets/fabric.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

void keys(const NodeFabric& fabric, See& see);

}  // namespace lockstep::api
