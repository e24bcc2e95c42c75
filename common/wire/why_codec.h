#pragma once
// Reasons, to and from proto/why.proto. See fields.h.

#include "common/domain/why/why.h"
#include "common/wire/fields.h"
#include "proto/why.pb.h"

namespace lockstep::pb {

// Texts that are too long lose their middle.
void to_wire(const lockstep::Why& from, Why* to);
// Refuses what exceeds the bounds of why/data.h. A reason that this version does not know is kept.
Status from_wire(const Why& from, lockstep::Why* to);

}  // namespace lockstep::pb
