#pragma once
// A reason as bytes, for stores that keep one beside their own columns. Its form is that of
// proto/why.proto.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/why/why.h"

namespace lockstep::wire {

// "" without a reason. What exceeds the bounds of why/data.h is shortened.
std::string encode_why(const Why& why);
// A reason that this version does not know is kept. invalid_argument: `bytes` are no reason.
Result<Why> decode_why(std::string_view bytes);

}  // namespace lockstep::wire
