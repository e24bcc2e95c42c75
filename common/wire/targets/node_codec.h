#pragma once
// Inventory, to and from proto/node.proto. See fields.h.

#include "common/domain/targets/node.h"
#include "common/wire/fields.h"
#include "proto/node.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::GpuDevice& from, GpuDevice* to);
Status from_wire(const GpuDevice& from, lockstep::GpuDevice* to);
void to_wire(const lockstep::NetworkInterface& from, NetworkInterface* to);
Status from_wire(const NetworkInterface& from, lockstep::NetworkInterface* to);
void to_wire(const lockstep::NodeEvent& from, NodeEvent* to);
Status from_wire(const NodeEvent& from, lockstep::NodeEvent* to);
void to_wire(const lockstep::Inventory& from, Inventory* to);
Status from_wire(const Inventory& from, lockstep::Inventory* to);

// Reads ids of cpus or gpus. Refuses negative and implausibly large ones.
Status read_ids(const google::protobuf::RepeatedField<std::int32_t>& from, const char* field,
                std::vector<int>* to);

}  // namespace lockstep::pb
