#pragma once
// Inventory, to and from proto/node.proto. See fields.h.

#include "common/domain/targets/node.h"
#include "common/wire/fields.h"
#include "proto/node.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::NodeEvent, NodeEvent);
LOCKSTEP_CODEC(lockstep::Inventory, Inventory);

// Reads ids of cpus or gpus. Refuses negative and implausibly large ones.
Status read_ids(const google::protobuf::RepeatedField<std::int32_t>& from, const char* field,
                std::vector<int>* to);

}  // namespace lockstep::pb
