#pragma once
// A refusal on the wire. All other messages of the control and join sockets are written and read by
// their tables alone.

#include "common/domain/messages/envelope.h"
#include "common/wire/fields.h"
#include "proto/control.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::Refused, Refused);

}  // namespace lockstep::pb
