#pragma once
// A launcher's refusal of a request on the bulk socket, as an error.

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::transfer {

// An error for a refusal: unavailable or resource_exhausted (its disk) may succeed later. Otherwise
// conflict.
Error error_of(const BulkRefused& refused);

}  // namespace lockstep::transfer
