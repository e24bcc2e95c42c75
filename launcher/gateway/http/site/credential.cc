#include "launcher/gateway/http/site/credential.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "common/base/digest.h"
#include "launcher/gateway/http/message/characters.h"
#include "launcher/gateway/http/message/cookie.h"
#include "launcher/gateway/http/message/host.h"

namespace lockstep::http {
namespace {

constexpr std::size_t kMaxSecretBytes = 4'096;
constexpr std::string_view kCsrfField = "x-lockstep-csrf";

Problem unauthenticated(std::string detail) {
  Problem problem;
  problem.status = 401;
  problem.detail = std::move(detail);
  problem.headers.add("www-authenticate", "Bearer");
  return problem;
}

Problem other_site(std::string detail) {
  Problem problem;
  problem.status = 403;
  problem.detail = std::move(detail);
  return problem;
}

// token68 of RFC 9110 §11.2.
bool is_token68(std::string_view text) {
  const auto end = text.find_last_not_of('=');
  if (end == std::string_view::npos) return false;
  text = text.substr(0, end + 1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || is_letter(c) || std::string_view("-._~+/").find(c) != std::string::npos;
  });
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// A person opens a link to one of our pages.
bool is_navigation(const Request& request) {
  return request.method == Method::get && request.headers.get("sec-fetch-mode") == "navigate" &&
         request.headers.get("sec-fetch-dest") == "document";
}

}  // namespace

std::variant<Credential, Problem> credential_of(const Request& request, bool is_tls) {
  if (const std::string* field = request.headers.find("authorization")) {
    const auto blank = std::min(field->find(' '), field->size());
    const std::string_view scheme = std::string_view(*field).substr(0, blank);
    const std::string_view secret = without_blanks(std::string_view(*field).substr(blank));
    if (!equal_ignoring_case(scheme, "bearer"))
      return unauthenticated(
          "the Authorization field is not of the form \"Bearer TOKEN\"; make a token with "
          "`lockstep token create`");
    if (secret.size() > kMaxSecretBytes || !is_token68(secret))
      return unauthenticated("the bearer token has characters that no token of ours has");
    return Credential{Credential::Kind::bearer, std::string(secret)};
  }
  auto cookie = find_cookie(request.headers, session_cookie_name(is_tls));
  if (!cookie) return unauthenticated(cookie.error().message);
  if (!*cookie) return Credential{};
  if ((*cookie)->size() > kMaxSecretBytes || !is_token68(**cookie))
    return unauthenticated("the session's cookie has characters that no session of ours has");
  return Credential{Credential::Kind::cookie, **std::move(cookie)};
}

std::string csrf_token(std::string_view session_secret) {
  return sha256("lockstep csrf " + std::string(session_secret)).hex();
}

std::optional<Problem> why_cross_site(const Request& request, const Credential& credential,
                                      bool is_tls) {
  // No other site can make a browser send an Authorization field without asking us first, and we
  // answer no such question (CORS).
  if (credential.kind == Credential::Kind::bearer) return std::nullopt;
  const bool has_cookie = credential.kind == Credential::Kind::cookie;
  if (!has_cookie && is_safe(request.method)) return std::nullopt;
  const std::string_view site = request.headers.get("sec-fetch-site");
  const bool is_own_site = site.empty() || site == "same-origin";
  const bool is_typed = site == "none" && is_safe(request.method);
  if (!is_own_site && !is_typed && !is_navigation(request))
    return other_site("a page of another site sent this request (Sec-Fetch-Site)");
  if (const std::string* origin = request.headers.find("origin"))
    if (!is_same_origin(*origin, request.host, is_tls))
      return other_site("a page of another origin sent this request (Origin)");
  if (is_safe(request.method) || !has_cookie) return std::nullopt;
  if (!is_equal_in_constant_time(request.headers.get(kCsrfField), csrf_token(credential.secret)))
    return other_site(
        "the field X-Lockstep-Csrf is missing or of another session; load the page again");
  return std::nullopt;
}

}  // namespace lockstep::http
