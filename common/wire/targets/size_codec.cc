#include "common/wire/targets/size_codec.h"

#include "common/wire/table_codec.h"
#include "proto/size.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::Size, Size);
LOCKSTEP_TABLE_CODEC(lockstep::DefineSizes, DefineSizes);
LOCKSTEP_TABLE_CODEC(lockstep::RemoveSize, RemoveSize);
LOCKSTEP_TABLE_CODEC(lockstep::GrantSize, GrantSize);
LOCKSTEP_TABLE_CODEC(lockstep::ListSizes, ListSizes);
LOCKSTEP_TABLE_CODEC(lockstep::SizesReply, SizesReply);

}  // namespace lockstep::pb
