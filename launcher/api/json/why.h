#pragma once
// `reason_data`: a reason's code and its fields, beside the text that people read.

#include "common/domain/why/why.h"
#include "launcher/api/json/value.h"

namespace lockstep::api {

// {"code": …, …fields}: sizes in bytes, durations in seconds, times as texts in UTC; null without a
// reason.
Json reason_json(const Why& why);

}  // namespace lockstep::api
