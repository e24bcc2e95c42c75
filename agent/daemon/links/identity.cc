#include "agent/daemon/links/identity.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <variant>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/net/host_text.h"
#include "common/io/net/reach.h"
#include "common/wire/messages/control.h"

namespace lockstep::agent {
namespace {

constexpr int kMostControlPort = 65'533;  // the two ports after it are the launcher's, too
constexpr int kFormat = 1;
constexpr Duration kAskAgainEvery = seconds(2);
constexpr Duration kHandshakeWithin = seconds(7);
constexpr std::string_view kTcp = "tcp://";

struct HostPort {
  std::string host;
  int port = 0;
};

// Splits an endpoint; nullopt: the text is not tcp://host:port.
std::optional<HostPort> split_tcp(const std::string& endpoint) {
  if (endpoint.compare(0, kTcp.size(), kTcp) != 0) return std::nullopt;
  const auto colon = endpoint.rfind(':');
  if (colon == std::string::npos || colon <= kTcp.size()) return std::nullopt;
  HostPort found{endpoint.substr(kTcp.size(), colon - kTcp.size()), 0};
  const char* const end = endpoint.data() + endpoint.size();
  const auto read = std::from_chars(endpoint.data() + colon + 1, end, found.port);
  if (read.ec != std::errc() || read.ptr != end || found.port < 1 || found.port > 65535)
    return std::nullopt;
  return found;
}

// Splits an endpoint that libzmq can dial.
std::optional<HostPort> split_dialled(const std::string& endpoint) {
  auto found = split_tcp(endpoint);
  return found && io::is_host(found->host) ? found : std::nullopt;
}

nlohmann::json json_of(const std::vector<LauncherAddress>& addresses) {
  auto list = nlohmann::json::array();
  for (const LauncherAddress& address : addresses)
    list.push_back({{"control", address.control}, {"bulk", address.bulk}});
  return list;
}

// The addresses in the file; earlier versions wrote none.
std::vector<LauncherAddress> addresses_in(const nlohmann::json& identity) {
  std::vector<LauncherAddress> addresses;
  const auto list = identity.find("others");
  if (list == identity.end()) return addresses;
  for (const auto& entry : *list)
    addresses.push_back(
        {entry.at("control").get<std::string>(), entry.at("bulk").get<std::string>()});
  return addresses;
}

Envelope<JoinMessage> request(std::uint64_t sequence, JoinRequest body) {
  Envelope<JoinMessage> envelope;
  envelope.sequence = sequence;
  envelope.body = std::move(body);
  return envelope;
}

}  // namespace

Result<std::optional<Identity>> load_identity(const std::string& path) {
  const auto text = io::read_file(path, kibibytes(64));
  if (!text) {
    if (text.error().code == ErrorCode::not_found) return std::optional<Identity>();
    return text.error();
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  Identity identity;
  try {
    if (json.at("format").get<int>() != kFormat) {
      return make_error(ErrorCode::unsupported,
                        path + " was written by another version of lockstep-agent");
    }
    identity.node = NodeId(json.at("node").get<std::uint64_t>());
    identity.name = json.at("name").get<std::string>();
    identity.launcher_key = PublicKey(json.at("launcher_key").get<std::string>());
    identity.control_endpoint = json.at("control").get<std::string>();
    identity.bulk_endpoint = json.at("bulk").get<std::string>();
    identity.others = addresses_in(json);
  } catch (const nlohmann::json::exception&) {
    return make_error(ErrorCode::corrupt,
                      path + " is damaged; restore it, or remove this home and join again");
  }
  return std::optional<Identity>(std::move(identity));
}

Status save_identity(const std::string& path, const Identity& identity) {
  const nlohmann::json json = {{"format", kFormat},
                               {"node", identity.node.value},
                               {"name", identity.name},
                               {"launcher_key", identity.launcher_key.value},
                               {"control", identity.control_endpoint},
                               {"bulk", identity.bulk_endpoint},
                               {"others", json_of(identity.others)}};
  return io::write_file_atomically(path, json.dump(2) + "\n", 0600);
}

Endpoints endpoints_of(const wire::JoinToken& token) {
  return {token.control_endpoint, token.bulk_endpoint, token.join_endpoint};
}

Endpoints endpoints_of(const Identity& identity) {
  return {identity.control_endpoint, identity.bulk_endpoint, ""};
}

Result<Endpoints> as_dialled(Endpoints told, const std::string& launcher) {
  if (launcher.empty()) return told;
  const auto said = split_dialled(launcher);
  if (!said) {
    return make_error(ErrorCode::invalid_argument,
                      "--launcher: '" + launcher +
                          "' is not tcp://HOST:PORT, HOST a name, an IPv4 or an [IPv6] address, "
                          "PORT 1 to 65535");
  }
  const auto control = split_tcp(told.control);
  int shift = control ? said->port - control->port : 0;
  for (const std::string* endpoint : {&told.control, &told.bulk, &told.join})
    if (const auto known = split_tcp(*endpoint); known && known->port == said->port) shift = 0;
  for (std::string* endpoint : {&told.control, &told.bulk, &told.join})
    if (const auto known = split_tcp(*endpoint))
      *endpoint = fmt::format("{}{}:{}", kTcp, said->host, known->port + shift);
  return told;
}

bool is_tcp_endpoint(const std::string& endpoint) { return split_dialled(endpoint).has_value(); }

Result<LauncherAddress> address_after(const std::string& control) {
  const auto said = split_dialled(control);
  if (!said || said->port > kMostControlPort)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("--launcher: '{}' is not tcp://HOST:PORT, HOST a name, an IPv4 or "
                    "an [IPv6] address, PORT 1 to {}",
                    control, kMostControlPort));
  return LauncherAddress{control, fmt::format("{}{}:{}", kTcp, said->host, said->port + 1)};
}

Status check_node_name(const std::string& name) {
  constexpr std::size_t kMaxBytes = 63;  // the limit for a host name
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
  if (name.size() <= kMaxBytes && !digits && std::all_of(name.begin(), name.end(), good)) return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("--name '{}' cannot be a node's name: write at most {} letters, digits, '.', '_' "
                  "and '-', and not digits alone (they would be a node's id)",
                  name, kMaxBytes));
}

namespace {

// The launcher's refusal names its own version, if it can be read although the protocols differ.
Error another_version(const std::string& endpoint, std::string_view reply, const Error& error) {
  const std::string said = wire::join_refusal_of_any_version(reply);
  return make_error(
      ErrorCode::unsupported,
      fmt::format("the launcher at {} and this agent ({}) are of different versions: {}", endpoint,
                  LOCKSTEP_VERSION, said.empty() ? error.message : "the launcher says: " + said));
}

// The launcher's answer, or why there is none within `timeout`.
Result<JoinReply> ask_to_join(io::EventLoop& loop, io::ClientSocket& socket,
                              const std::string& endpoint, const JoinRequest& asked,
                              Duration timeout) {
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  const std::string first = wire::encode(request(1, asked));
  if (!socket.send_within(first, std::min<Duration>(timeout, kHandshakeWithin))) {
    spdlog::warn("no connection to {}, the launcher's port for joining: {}; trying on", endpoint,
                 io::why_not_connected(endpoint, seconds(1)));
    TRY(socket.send_within(first, std::max<Duration>(end - clock.now(), Duration::zero())));
  }
  std::optional<JoinReply> answer;
  std::optional<Error> unread;  // the launcher speaks another protocol
  loop.watch_socket(socket.handle(), [&] {
    while (const auto bytes = socket.receive()) {
      auto envelope = wire::decode_envelope<JoinReply>(*bytes);
      if (envelope)
        answer = std::move(envelope->body);
      else if (envelope.error().code == ErrorCode::unsupported)
        unread = another_version(endpoint, *bytes, envelope.error());
    }
  });
  const auto is_answered = [&] { return answer || unread; };
  for (std::uint64_t sequence = 2; !is_answered() && clock.now() < end; ++sequence) {
    const Instant again = std::min(clock.now() + kAskAgainEvery, end);
    while (!is_answered() && clock.now() < again) loop.turn(again - clock.now());
    if (is_answered()) break;
    (void)socket.send(wire::encode(request(sequence, asked)));
  }
  loop.unwatch_socket(socket.handle());
  if (unread) return *std::move(unread);
  if (!answer) {
    return make_error(ErrorCode::deadline_exceeded,
                      fmt::format("the launcher at {} did not answer the request to join within {}",
                                  endpoint, format_duration(timeout)));
  }
  return *std::move(answer);
}

}  // namespace

Result<Identity> join(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const Endpoints& at, const io::KeyPair& keys, const std::string& name,
                      Duration timeout, const MachinePart& machine) {
  const std::string& endpoint = at.join;
  TRY_ASSIGN(io::ClientSocket socket,
             io::ClientSocket::connect(transport, endpoint, token.launcher_key, keys,
                                       {.max_message_bytes = kMaxJoinMessageBytes}));
  const JoinRequest asked{token.secret, name, LOCKSTEP_VERSION, machine};
  TRY_ASSIGN(const JoinReply answer, ask_to_join(loop, socket, endpoint, asked, timeout));
  if (const auto* refused = std::get_if<JoinRefused>(&answer)) {
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("the launcher at {} refused this node: {}", endpoint, refused->reason));
  }
  const auto* accepted = std::get_if<JoinAccepted>(&answer);
  if (!accepted) {
    return make_error(ErrorCode::corrupt,
                      endpoint + " sent an unexpected reply to the join request");
  }
  Identity identity;
  identity.node = accepted->node;
  identity.name = accepted->name;
  identity.launcher_key = token.launcher_key;
  identity.control_endpoint = at.control;
  identity.bulk_endpoint = at.bulk;
  return identity;
}

}  // namespace lockstep::agent
