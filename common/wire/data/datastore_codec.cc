#include "common/wire/data/datastore_codec.h"

#include "common/wire/table_codec.h"
#include "proto/datastore.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::DatastoreView, DatastoreView);
LOCKSTEP_TABLE_CODEC(lockstep::ListDatastores, ListDatastores);
LOCKSTEP_TABLE_CODEC(lockstep::DatastoresReply, DatastoresReply);
LOCKSTEP_TABLE_CODEC(lockstep::WaitsForData, WaitsForData);

}  // namespace lockstep::pb
