#pragma once
// Datastores on the wire.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/datastore.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::DatastoreView& from, DatastoreView* to);
Status from_wire(const DatastoreView& from, lockstep::DatastoreView* to);
void to_wire(const lockstep::ListDatastores& from, ListDatastores* to);
Status from_wire(const ListDatastores& from, lockstep::ListDatastores* to);
void to_wire(const lockstep::DatastoresReply& from, DatastoresReply* to);
Status from_wire(const DatastoresReply& from, lockstep::DatastoresReply* to);
void to_wire(const lockstep::WaitsForData& from, WaitsForData* to);
Status from_wire(const WaitsForData& from, lockstep::WaitsForData* to);

}  // namespace lockstep::pb
