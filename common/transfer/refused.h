#pragma once
// A launcher's refusal of a request on the bulk socket, as an error.

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::transfer {

// The error: unavailable or resource_exhausted (its disk) if a retry may help; otherwise conflict.
Error error_of(const BulkRefused& refused);

}  // namespace lockstep::transfer
