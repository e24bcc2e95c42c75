#pragma once
// What nodes, jobs and ranks use, as JSON. See value.h. Cpu is in cores, memory in bytes, rates are
// in bytes per second, times in seconds.

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/json/value.h"

namespace lockstep::api {

Json to_json(const MeasuredNode& node);
Json to_json(const MeasuredPart& part);
// The ranks of a part that have ended: what they used in all.
Json totals_of(const std::vector<RankUse>& ranks);
Json to_json(const UsageReply& usage);

}  // namespace lockstep::api
