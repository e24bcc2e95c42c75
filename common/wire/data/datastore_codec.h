#pragma once
// Datastores on the wire.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/datastore.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::DatastoreView, DatastoreView);
LOCKSTEP_CODEC(lockstep::ListDatastores, ListDatastores);
LOCKSTEP_CODEC(lockstep::DatastoresReply, DatastoresReply);
LOCKSTEP_CODEC(lockstep::WaitsForData, WaitsForData);

}  // namespace lockstep::pb
