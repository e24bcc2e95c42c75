#include "launcher/api/json/value.h"

namespace lockstep::api {

Json time_or_null(Instant time) { return time.ns == 0 ? Json(nullptr) : Json(to_string(time)); }

Json seconds_of(Duration duration) {
  if (duration.count() % 1'000'000'000 == 0) return duration.count() / 1'000'000'000;
  return static_cast<double>(duration.count()) / 1e9;
}

}  // namespace lockstep::api
