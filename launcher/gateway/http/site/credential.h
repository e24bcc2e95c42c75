#pragma once
// What a request shows of who sent it, and whether a page of another site made a browser send it.
// Nothing here knows who may do what: the secret goes to the launcher, which checks it.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "launcher/gateway/http/message/problem.h"
#include "launcher/gateway/http/message/request.h"

namespace lockstep::http {

struct Credential {
  enum class Kind {
    none,
    bearer,  // "Authorization: Bearer …": a program's own doing
    cookie,  // a browser sends it by itself, so what sent the request must be known too
  } kind = Kind::none;
  std::string secret = {};
  friend bool operator==(const Credential&, const Credential&) = default;
};
// An Authorization field is preferred to a cookie. A Problem: it has a form that we do not take.
std::variant<Credential, Problem> credential_of(const Request& request, bool is_tls);

// The text that our own pages send as X-Lockstep-Csrf when they change something. It follows from
// the session's secret, so the gateway remembers nothing; a page of another origin can read
// neither.
std::string csrf_token(std::string_view session_secret);

// Why a request is refused as another site's; nullopt: it is ours, or not a browser's. A login has
// no cookie yet and is checked too, so that nobody is made to log in as somebody else. Pages of a
// job's services live below our own host name and count as other sites here (Sec-Fetch-Site:
// same-site), although SameSite=Strict lets the cookie through.
std::optional<Problem> why_cross_site(const Request& request, const Credential& credential,
                                      bool is_tls);

}  // namespace lockstep::http
