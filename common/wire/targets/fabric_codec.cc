#include "common/wire/targets/fabric_codec.h"

#include <algorithm>

#include "common/wire/table_codec.h"
#include "proto/fabric.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::NodeFabric, NodeFabric);
LOCKSTEP_TABLE_CODEC(lockstep::GangFabric, GangFabric);
LOCKSTEP_TABLE_CODEC(lockstep::PathFailure, PathFailure);
LOCKSTEP_TABLE_CODEC(lockstep::NetworkSetting, NetworkSetting);
LOCKSTEP_TABLE_CODEC(lockstep::SettingOverride, SettingOverride);
LOCKSTEP_TABLE_CODEC(lockstep::OperatorSettings, OperatorSettings);

void to_wire(const lockstep::ProbeResult& from, ProbeResult* to) {
  write_table(from, to);
  to->set_broken(std::clamp(from.broken, 0, to->failures_size()));
}
Status from_wire(const ProbeResult& from, lockstep::ProbeResult* to) {
  TRY(read_table(from, to));
  return read_number(from.broken(), 0, static_cast<std::int64_t>(to->failures.size()),
                     "probe_result.broken", &to->broken);
}

}  // namespace lockstep::pb
