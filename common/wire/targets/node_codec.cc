#include "common/wire/targets/node_codec.h"

#include "common/wire/table_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "proto/node.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::NodeEvent, NodeEvent);
LOCKSTEP_TABLE_CODEC(lockstep::Inventory, Inventory);

Status read_ids(const google::protobuf::RepeatedField<std::int32_t>& from, const char* field,
                std::vector<int>* to) {
  TRY(check_count(from.size(), kDeviceIds.count, field));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (const int id : from)
    TRY(read_number(id, kDeviceIds.low, kDeviceIds.high, field, &to->emplace_back()));
  return {};
}

}  // namespace lockstep::pb
