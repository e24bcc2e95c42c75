#pragma once
// What nodes and ranks use, to and from proto/metrics.proto and proto/usage.proto. See fields.h.

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/targets/metrics.h"
#include "common/wire/fields.h"
#include "proto/metrics.pb.h"
#include "proto/usage.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::GpuUse& from, GpuUse* to);
Status from_wire(const GpuUse& from, lockstep::GpuUse* to);
void to_wire(const lockstep::RankUse& from, RankUse* to);
Status from_wire(const RankUse& from, lockstep::RankUse* to);
void to_wire(const lockstep::NodeUse& from, NodeUse* to);
Status from_wire(const NodeUse& from, lockstep::NodeUse* to);
void to_wire(const lockstep::PartUse& from, PartUse* to);
Status from_wire(const PartUse& from, lockstep::PartUse* to);
void to_wire(const lockstep::UsageReport& from, UsageReport* to);
Status from_wire(const UsageReport& from, lockstep::UsageReport* to);
void to_wire(const lockstep::UseSample& from, UseSample* to);
Status from_wire(const UseSample& from, lockstep::UseSample* to);
void to_wire(const lockstep::MeasuredNode& from, MeasuredNode* to);
Status from_wire(const MeasuredNode& from, lockstep::MeasuredNode* to);
void to_wire(const lockstep::MeasuredPart& from, MeasuredPart* to);
Status from_wire(const MeasuredPart& from, lockstep::MeasuredPart* to);
void to_wire(const lockstep::NodeUsage& from, NodeUsage* to);
Status from_wire(const NodeUsage& from, lockstep::NodeUsage* to);
void to_wire(const lockstep::PartUsage& from, PartUsage* to);
Status from_wire(const PartUsage& from, lockstep::PartUsage* to);
void to_wire(const lockstep::JobUsage& from, JobUsage* to);
Status from_wire(const JobUsage& from, lockstep::JobUsage* to);
void to_wire(const lockstep::GetUsage& from, GetUsage* to);
Status from_wire(const GetUsage& from, lockstep::GetUsage* to);
void to_wire(const lockstep::UsageReply& from, UsageReply* to);
Status from_wire(const UsageReply& from, lockstep::UsageReply* to);

}  // namespace lockstep::pb
