#pragma once
// The head of one request, as values: what its bytes say, checked for form and framing and for
// nothing else. Who asks, and whether we serve that host and path, others decide.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/gateway/http/message/headers.h"

namespace lockstep::http {

enum class Method { get, head, post, put, patch, remove, options };
std::string_view to_string(Method method);  // "GET"; `remove` is "DELETE"
// nullopt: a method that nothing here serves. Methods are case-sensitive.
std::optional<Method> method_from(std::string_view name);
// Whether it only reads (RFC 9110 §9.2.1).
bool is_safe(Method method);

struct Request {
  Method method = Method::get;
  std::string target;     // "/path?query", as it was sent; printable ASCII
  int minor_version = 1;  // of HTTP/1
  Headers headers;
  std::string host;  // of the one Host field, as it was sent
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  bool wants_keep_alive = true;
  bool expects_continue = false;

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
  friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace lockstep::http
