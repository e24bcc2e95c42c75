#pragma once

#include <string_view>

namespace lockstep::http {

// "Not Found"; "" for a status that we never send (RFC 9110 §15, RFC 6585).
std::string_view reason_phrase(int status);
// Whether a response of this status never has a body (RFC 9110 §6.4.1).
bool is_bodiless(int status);

}  // namespace lockstep::http
