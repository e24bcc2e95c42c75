#pragma once
// Entity tags and conditional requests (RFC 9110 §13): a client that has the present version gets
// no body, and one that changes an older version changes nothing. Dates are not used: a second is
// too coarse for a job's state.

#include <string>
#include <string_view>

#include "launcher/gateway/http/message/request.h"

namespace lockstep::http {

enum class Precondition {
  proceed,
  not_modified,  // answer 304 with the same ETag
  failed,        // answer 412
};
// `etag`: of what the request names as it is now; "": there is no such thing.
Precondition judge_precondition(const Request& request, std::string_view etag);

// "\"TEXT\"", a strong tag. The text has no '"' and no control characters.
std::string strong_etag(std::string_view text);

}  // namespace lockstep::http
