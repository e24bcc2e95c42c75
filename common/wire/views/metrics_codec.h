#pragma once
// Codecs of the resources that nodes and ranks use: proto/metrics.proto and proto/usage.proto. See
// fields.h.

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/targets/metrics.h"
#include "common/wire/fields.h"
#include "proto/metrics.pb.h"
#include "proto/usage.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::RankUse, RankUse);
LOCKSTEP_CODEC(lockstep::UsageReport, UsageReport);
LOCKSTEP_CODEC(lockstep::MeasuredNode, MeasuredNode);
LOCKSTEP_CODEC(lockstep::MeasuredPart, MeasuredPart);
LOCKSTEP_CODEC(lockstep::GetUsage, GetUsage);
LOCKSTEP_CODEC(lockstep::UsageReply, UsageReply);

}  // namespace lockstep::pb
