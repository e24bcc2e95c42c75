#pragma once
// Datastores as JSON.

#include "common/domain/data/datastore.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// Where a remote is, and who may use a datastore, are null and empty for all but admins.
void keys(const DatastoreView& view, See& see);

}  // namespace lockstep::api
