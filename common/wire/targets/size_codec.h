#pragma once
// Sizes on the wire. Journals also use the encoding of Size.

#include "common/domain/targets/size.h"
#include "common/wire/fields.h"
#include "proto/size.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::Size, Size);
LOCKSTEP_CODEC(lockstep::DefineSizes, DefineSizes);
LOCKSTEP_CODEC(lockstep::RemoveSize, RemoveSize);
LOCKSTEP_CODEC(lockstep::GrantSize, GrantSize);
LOCKSTEP_CODEC(lockstep::ListSizes, ListSizes);
LOCKSTEP_CODEC(lockstep::SizesReply, SizesReply);

}  // namespace lockstep::pb
