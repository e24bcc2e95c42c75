#pragma once
// The bulk messages with pieces of blobs: reading moves the pieces' data out of the message, and
// bulk.cc writes it. All others are written and read by their tables alone.

#include "common/domain/messages/bulk_protocol.h"
#include "common/wire/fields.h"
#include "proto/bulk.pb.h"

namespace lockstep::pb {

Status from_wire(PutBlobs& from, lockstep::PutBlobs* to);
Status from_wire(BlobData& from, lockstep::BlobData* to);

}  // namespace lockstep::pb
