#include "common/grammar/ip_network.h"

#include <arpa/inet.h>

#include <charconv>
#include <system_error>

namespace lockstep {
namespace {

constexpr int kBitsOfV4 = 32, kBitsOfV6 = 128;

std::optional<IpNetwork> parse_address(const std::string& text) {
  IpNetwork found;
  if (::inet_pton(AF_INET, text.c_str(), found.bytes.data()) == 1) {
    found.is_v4 = true;
    found.prefix = kBitsOfV4;
    return found;
  }
  found.prefix = kBitsOfV6;
  if (::inet_pton(AF_INET6, text.c_str(), found.bytes.data()) == 1) return found;
  return std::nullopt;
}

bool bit(const IpNetwork& of, int number) {
  const auto place = static_cast<std::size_t>(number) / 8;
  return (of.bytes[place] >> (7 - number % 8) & 1) != 0;
}

}  // namespace

std::optional<IpNetwork> parse_ip_network(const std::string& text) {
  const auto slash = text.find('/');
  auto network = parse_address(text.substr(0, slash));
  if (!network || slash == std::string::npos) return network;
  const int bits = network->prefix;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data() + slash + 1, end, network->prefix);
  if (failure != std::errc{} || stop != end || network->prefix < 0 || network->prefix > bits)
    return std::nullopt;
  for (int number = network->prefix; number < bits; ++number)
    if (bit(*network, number)) return std::nullopt;
  return network;
}

bool has_address(const IpNetwork& network, const std::string& address) {
  const auto one = parse_address(address);
  if (!one || one->is_v4 != network.is_v4) return false;
  for (int number = 0; number < network.prefix; ++number)
    if (bit(*one, number) != bit(network, number)) return false;
  return true;
}

bool is_link_local(const std::string& address) {
  const auto one = parse_address(address);
  if (!one) return false;
  return one->is_v4 ? one->bytes[0] == 169 && one->bytes[1] == 254
                    : one->bytes[0] == 0xfe && (one->bytes[1] & 0xc0) == 0x80;
}

}  // namespace lockstep
