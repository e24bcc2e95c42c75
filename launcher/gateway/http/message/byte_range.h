#pragma once
// Range requests (RFC 9110 §14): which part of a body of known size is asked for. One range is
// answered; several, a malformed one, or one of an older version get the whole, as the RFC allows.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "launcher/gateway/http/message/request.h"

namespace lockstep::http {

struct WholeBody {
  friend bool operator==(const WholeBody&, const WholeBody&) = default;
};
struct BodyPart {
  std::uint64_t first = 0, last = 0;  // positions of bytes; both are part of it
  friend bool operator==(const BodyPart&, const BodyPart&) = default;
};
struct NoSuchPart {  // answer 416
  friend bool operator==(const NoSuchPart&, const NoSuchPart&) = default;
};
using RangeChoice = std::variant<WholeBody, BodyPart, NoSuchPart>;

// `etag`: of the body as it is now, a strong one; "": it has none, so If-Range never holds.
RangeChoice choose_range(const Request& request, std::uint64_t size, std::string_view etag);

// The value of Content-Range, for 206 and 416.
std::string content_range(const BodyPart& part, std::uint64_t size);
std::string unsatisfied_range(std::uint64_t size);

}  // namespace lockstep::http
