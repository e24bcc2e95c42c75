#include "common/wire/job/attach_codec.h"

#include "common/wire/job/assignment_codec.h"
#include "common/wire/table_codec.h"
#include "proto/attach.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::AttachFrame, AttachFrame);

}  // namespace lockstep::pb
