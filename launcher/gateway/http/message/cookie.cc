#include "launcher/gateway/http/message/cookie.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {

std::string_view session_cookie_name(bool is_tls) {
  return is_tls ? "__Host-lockstep" : "lockstep";
}

Result<std::optional<std::string>> find_cookie(const Headers& headers, std::string_view name) {
  std::optional<std::string> found;
  for (const Headers::Field& field : headers) {
    if (field.name != "cookie") continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = without_blanks(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      if (found)
        return make_error(ErrorCode::permission_denied,
                          fmt::format("two cookies are called {}: another site of this host may "
                                      "have set one; delete the cookies of this host",
                                      name));
      found = std::string(pair.substr(equals + 1));
    }
  }
  return found;
}

std::string set_session_cookie(std::string_view value, Duration max_age, bool is_tls) {
  CHECK(std::all_of(value.begin(), value.end(),
                    [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '_'; }),
        "a session's cookie has other characters than letters, digits, '-' and '_'");
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}",
                     session_cookie_name(is_tls), value, max_age / seconds(1),
                     is_tls ? "; Secure" : "");
}

}  // namespace lockstep::http
