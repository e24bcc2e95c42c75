#pragma once
// What jobs have logged, as JSON. See value.h. What is no finite number is "NaN", "Infinity" or
// "-Infinity", because JSON has no numbers for them.

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/json/value.h"

namespace lockstep::api {

Json to_json(const MetricsReply& logged);

}  // namespace lockstep::api
