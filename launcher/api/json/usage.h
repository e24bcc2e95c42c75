#pragma once
// What nodes, jobs and ranks use, as JSON. Cpu is in cores, memory in bytes, rates are in bytes per
// second, times in seconds.

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// What a rank that has ended used in all.
struct RankTotals {
  RankUse use;
};

void keys(const MeasuredNode& node, See& see);
void keys(const MeasuredPart& part, See& see);
void keys(const RankTotals& totals, See& see);
void keys(const UsageReply& usage, See& see);

}  // namespace lockstep::api
