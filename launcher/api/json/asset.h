#pragma once
// Registered data and models as JSON.

#include "common/domain/data/asset.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// Who may add versions to a name beside its owner.
void keys(const NameGrants& grants, See& see);
// With the keys that az ml prints; ours are below "lockstep".
void keys(const AssetView& view, See& see);

}  // namespace lockstep::api
