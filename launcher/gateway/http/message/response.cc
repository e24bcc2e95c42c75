#include "launcher/gateway/http/message/response.h"

#include <fmt/format.h>

#include <ctime>
#include <iterator>
#include <utility>

#include "common/base/check.h"
#include "launcher/gateway/http/message/status.h"

namespace lockstep::http {
namespace {

std::string_view policy_text(ContentPolicy policy) {
  switch (policy) {
    case ContentPolicy::data:
      return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    case ContentPolicy::page:
      return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
             "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
             "form-action 'self'; frame-ancestors 'none'";
    case ContentPolicy::untrusted:
      return "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri "
             "'none'; form-action 'none'; frame-ancestors 'self'; sandbox";
  }
  return "";
}

// A value as it may stand in a field.
std::string field_value(std::string_view value) {
  std::string safe(without_blanks(value));
  for (char& c : safe)
    if (is_control(c) && c != '\t') c = ' ';
  return safe;
}

void add_field(std::string& head, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, field_value(value));
}

void add_default(std::string& head, const Headers& given, std::string_view name,
                 std::string_view value) {
  if (given.find(name) == nullptr) add_field(head, name, value);
}

void add_framing(std::string& head, const HeadFacts& facts) {
  switch (facts.framing) {
    case HeadFacts::Framing::none:
    case HeadFacts::Framing::until_close: break;
    case HeadFacts::Framing::length:
      add_field(head, "content-length", std::to_string(facts.length));
      break;
    case HeadFacts::Framing::chunked: add_field(head, "transfer-encoding", "chunked"); break;
  }
  if (facts.closes) add_field(head, "connection", "close");
}

// The fields that write_head alone decides.
bool is_reserved(std::string_view name) {
  return name == "content-length" || name == "transfer-encoding" || name == "connection" ||
         name == "date" || name == "content-security-policy" || name == "x-content-type-options";
}

}  // namespace

Response text_response(int status, std::string content_type, std::string body) {
  Response response;
  response.status = status;
  response.headers.add("content-type", std::move(content_type));
  response.body = std::move(body);
  return response;
}

Response json_response(int status, std::string json) {
  return text_response(status, "application/json", std::move(json));
}

Response empty_response(int status) {
  Response response;
  response.status = status;
  return response;
}

std::string write_head(const Response& response, const HeadFacts& facts) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  add_field(head, "date", http_date(facts.now));
  for (const Headers::Field& field : response.headers) {
    CHECK(is_token(field.name) && !is_reserved(field.name), "a field that a handler may not set");
    add_field(head, field.name, field.value);
  }
  add_framing(head, facts);
  add_field(head, "content-security-policy", policy_text(response.policy));
  add_field(head, "x-content-type-options", "nosniff");
  const Headers& given = response.headers;
  add_default(head, given, "cache-control", "no-store");
  add_default(head, given, "cross-origin-opener-policy", "same-origin");
  add_default(head, given, "cross-origin-resource-policy", "same-origin");
  add_default(head, given, "permissions-policy", "camera=(), geolocation=(), microphone=()");
  add_default(head, given, "referrer-policy", "no-referrer");
  // The same as frame-ancestors, for browsers that do not know that.
  add_default(head, given, "x-frame-options",
              response.policy == ContentPolicy::untrusted ? "SAMEORIGIN" : "DENY");
  if (facts.hsts > Duration::zero())
    add_field(head, "strict-transport-security",
              fmt::format("max-age={}", facts.hsts / seconds(1)));
  head += "\r\n";
  return head;
}

std::string http_date(Instant time) {
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::time_t whole = time.ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays.substr(static_cast<std::size_t>(parts.tm_wday) * 3, 3), parts.tm_mday,
                     kMonths.substr(static_cast<std::size_t>(parts.tm_mon) * 3, 3),
                     parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string attachment_disposition(std::string_view file_name) {
  std::string plain, encoded;
  for (const char c : file_name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '/';
    plain += is_plain ? c : '_';
    if (is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_') {
      encoded += c;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", byte);
    }
  }
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, encoded);
}

}  // namespace lockstep::http
