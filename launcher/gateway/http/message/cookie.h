#pragma once
// The cookie of a browser's session (RFC 6265bis): who has it is let in, so no script can read it
// and no other site's request carries it.

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"
#include "launcher/gateway/http/message/headers.h"

namespace lockstep::http {

// Over TLS "__Host-lockstep", which only this very host can set; a browser takes that name over TLS
// alone, so without it is "lockstep".
std::string_view session_cookie_name(bool is_tls);

// nullopt: there is none. An error: there are two, so one may be somebody else's.
Result<std::optional<std::string>> find_cookie(const Headers& headers, std::string_view name);

// The value of Set-Cookie. `value` is letters, digits, '-' and '_'. With max_age 0 the browser
// forgets the cookie.
std::string set_session_cookie(std::string_view value, Duration max_age, bool is_tls);

}  // namespace lockstep::http
