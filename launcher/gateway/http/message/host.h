#pragma once
// Which host names are served. A page of another origin can make its own name resolve to us (DNS
// rebinding), and the browser then lets it read our answers; so only names that the operator knows
// are served. The port is not compared: a person may come through a forwarded one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::http {

struct HostAndPort {
  std::string host;  // in lower case; an IPv6 address in brackets
  std::string port;  // decimal digits; "": none
  friend bool operator==(const HostAndPort&, const HostAndPort&) = default;
};
// Of a Host field: HOST[:PORT]. nullopt: it has another form.
std::optional<HostAndPort> parse_host(std::string_view text);

class HostPolicy {
 public:
  // Names and addresses as in a URL, without port; an IPv6 address in brackets.
  explicit HostPolicy(std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]"});
  bool serves(std::string_view host_field) const;

 private:
  std::vector<std::string> names_;  // in lower case
};

// Whether an Origin field ("https://host:port") is the origin of a request with this Host field. A
// proxy in front may speak TLS where we do not; where we do, "http" is another origin.
bool is_same_origin(std::string_view origin, std::string_view host_field, bool is_tls);

}  // namespace lockstep::http
