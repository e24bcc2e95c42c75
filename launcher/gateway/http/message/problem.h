#pragma once
// Errors as RFC 9457 has them (application/problem+json). The detail is written for people: what
// failed, on what, why, and what to do. It must hold no token and no secret.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "launcher/gateway/http/message/response.h"

namespace lockstep::http {

struct Problem {
  int status = 500;
  std::string detail;
  std::string code = {};  // of the launcher's reasons, for programs; "": none
  // More members of the object: those of docs/schema for this code.
  std::vector<std::pair<std::string, std::string>> members = {};
  Headers headers = {};  // of the response: Allow, Retry-After, WWW-Authenticate
  friend bool operator==(const Problem&, const Problem&) = default;
};

// The status that a failure of this class has: not_found is 404.
int status_of(ErrorCode code);
Problem problem_of(const Error& error);
std::string problem_json(const Problem& problem);
Response problem_response(const Problem& problem);

}  // namespace lockstep::http
