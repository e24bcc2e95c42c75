#pragma once
// JSON values that are made one by one, for what has no keys() (keys.h) yet: what the command line
// finds out itself.

#include <nlohmann/json.hpp>

#include "common/base/time.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json time_or_null(Instant time);
// Seconds: an integer, or a number with a fraction if the duration has one.
Json seconds_of(Duration duration);

}  // namespace lockstep::api
