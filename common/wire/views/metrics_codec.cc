#include "common/wire/views/metrics_codec.h"

#include "common/wire/job/assignment_codec.h"
#include "common/wire/table_codec.h"
#include "proto/metrics.access.h"
#include "proto/usage.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::RankUse, RankUse);
LOCKSTEP_TABLE_CODEC(lockstep::UsageReport, UsageReport);
LOCKSTEP_TABLE_CODEC(lockstep::MeasuredNode, MeasuredNode);
LOCKSTEP_TABLE_CODEC(lockstep::MeasuredPart, MeasuredPart);
LOCKSTEP_TABLE_CODEC(lockstep::GetUsage, GetUsage);
LOCKSTEP_TABLE_CODEC(lockstep::UsageReply, UsageReply);

}  // namespace lockstep::pb
