#pragma once
// What is inside of a job, as JSON.

#include <string>

#include "launcher/api/json/job.h"

namespace lockstep::api {

struct NamedAttempt {
  const std::string* job = &none_of<std::string>();
  const AttemptView* attempt = &none_of<AttemptView>();
};
void keys(const NamedAttempt& attempt, See& see);

}  // namespace lockstep::api
