#pragma once
// Datastores as JSON.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/data/datastore.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// Where a remote is, and who may use a datastore, are null and empty for all but admins.
Json to_json(const DatastoreView& view);
Json to_json(const std::vector<DatastoreView>& views);

}  // namespace lockstep::api
