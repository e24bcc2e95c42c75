#include "launcher/compute/endpoints.h"

#include <fmt/format.h>

#include <charconv>

#include "launcher/compute/machine_name.h"

namespace lockstep::compute {
namespace {

constexpr std::string_view kTcp = "tcp://";

}  // namespace

Result<Address> address_from(const std::string& endpoint) {
  const Error bad =
      make_error(ErrorCode::invalid_argument, "'" + endpoint + "' is not tcp://HOST:PORT");
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kTcp) || colon <= kTcp.size()) return bad;
  Address address{endpoint.substr(kTcp.size(), colon - kTcp.size()), 0};
  const char* const end = endpoint.data() + endpoint.size();
  const auto read = std::from_chars(endpoint.data() + colon + 1, end, address.port);
  if (read.ec != std::errc() || read.ptr != end || address.port < 1 || address.port > 65'535)
    return bad;
  std::string& host = address.host;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string::npos) return bad;
  if (!check_machine_name(host)) return bad;
  return address;
}

std::string to_endpoint(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}{}:{}", kTcp, v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

bool is_loopback(const Address& address) {
  return address.host == "localhost" || address.host == "::1" || address.host.starts_with("127.");
}

}  // namespace lockstep::compute
