#include "common/transfer/refused.h"

namespace lockstep::transfer {

Error error_of(const BulkRefused& refused) {
  const ErrorCode code = refused.no_space  ? ErrorCode::resource_exhausted
                         : refused.for_now ? ErrorCode::unavailable
                                           : ErrorCode::conflict;
  return make_error(code, "the launcher refused: " + refused.message);
}

}  // namespace lockstep::transfer
