#include "launcher/daemon/sockets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/envelope.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/own_address.h"
#include "launcher/home/endpoint_file.h"

namespace lockstep::launcher {

namespace {

constexpr std::string_view kTcp = "tcp://";
// A node's full report: 1,024 ended parts, each with 16 KiB of reasons. Requests of users have a
// lower limit, which is checked before decoding. A larger message is not even received: libzmq
// closes the connection when it has read the length. The launcher itself may send more
// (kMaxControlMessageBytes).
constexpr std::int64_t kLargestReportBytes = 16 << 20;

struct Endpoints {
  std::string control, bulk, join;
};

Endpoints any_on(const std::string& host) {
  const auto any = fmt::format("tcp://{}:*", host);
  return {any, any, any};
}

Endpoints from(const Listen& listen) {
  if (listen.port == 0) return any_on(listen.host);
  const auto at = [&](int step) {
    return fmt::format("tcp://{}:{}", listen.host, listen.port + step);
  };
  return {at(0), at(1), at(2)};
}

Result<Sockets> bind_all(io::Transport& transport, const io::KeyPair& keys, const Endpoints& at,
                         const Sockets::Trusts& trusts) {
  constexpr std::int64_t kEnvelopeBytes = 1 << 20;  // in addition to the largest body
  io::SocketLimits control, bulk, join;
  control.max_message_bytes = kLargestReportBytes;
  bulk.max_message_bytes = static_cast<std::int64_t>(kMaxBulkMessageBytes) + kEnvelopeBytes;
  bulk.high_water_mark = 512;
  control.trusts = bulk.trusts = trusts;
  join.max_message_bytes = static_cast<std::int64_t>(kMaxJoinMessageBytes);
  join.high_water_mark = 100;
  join.open_to_all = true;
  TRY_ASSIGN(auto control_socket,
             io::ServerSocket::bind(transport, at.control, kControlDomain, keys, control));
  TRY_ASSIGN(auto bulk_socket, io::ServerSocket::bind(transport, at.bulk, kBulkDomain, keys, bulk));
  TRY_ASSIGN(auto join_socket, io::ServerSocket::bind(transport, at.join, kJoinDomain, keys, join));
  return Sockets{std::move(control_socket), std::move(bulk_socket), std::move(join_socket)};
}

Error explained(const Error& error, const Listen& listen) {
  return make_error(error.code,
                    fmt::format("--listen tcp://{}:{}: {}. HOST must be an address of this machine "
                                "(`ip address` lists them), or 0.0.0.0 for all of them; PORT and "
                                "the two after it must be free",
                                listen.host, listen.port, error.message));
}

}  // namespace

Result<Sockets> Sockets::bind(io::Transport& transport, const io::KeyPair& keys,
                              const std::optional<Listen>& listen, const std::string& endpoint_file,
                              Trusts trusts) {
  if (listen) {
    auto bound = bind_all(transport, keys, from(*listen), trusts);
    return bound ? std::move(bound) : Result<Sockets>(explained(bound.error(), *listen));
  }
  const auto before = read_endpoint_file(endpoint_file);
  const auto loopback = [](const std::string& text) {
    return text.rfind("tcp://127.0.0.1:", 0) == 0;
  };
  if (before && loopback(before->local_control) && loopback(before->local_bulk) &&
      loopback(before->local_join)) {
    auto again = bind_all(transport, keys,
                          {before->local_control, before->local_bulk, before->local_join}, trusts);
    if (again) return again;
    spdlog::warn("the ports of the previous start are taken, so agents must be restarted: {}",
                 again.error().message);
  }
  return bind_all(transport, keys, any_on("127.0.0.1"), trusts);
}

namespace {

// "tcp://", host, ":port"; the host is empty if the endpoint is not TCP.
struct Split {
  std::string host, port;
};
Split split(const std::string& endpoint) {
  if (endpoint.rfind(kTcp, 0) != 0) return {};
  const auto colon = endpoint.rfind(':');
  return {endpoint.substr(kTcp.size(), colon - kTcp.size()), endpoint.substr(colon)};
}

bool is_wildcard(const std::string& host) {
  return host == "0.0.0.0" || host == "[::]" || host == "*";
}

}  // namespace

std::string advertised(const std::string& endpoint, const std::string& advertise) {
  const auto [host, port] = split(endpoint);
  if (host.empty()) return endpoint;
  if (!advertise.empty()) return std::string(kTcp) + advertise + port;
  return is_wildcard(host) ? std::string(kTcp) + own_address() + port : endpoint;
}

std::string as_dialled_here(const std::string& endpoint) {
  const auto [host, port] = split(endpoint);
  if (host.empty() || !is_wildcard(host)) return endpoint;
  return std::string(kTcp) + (host == "[::]" ? "[::1]" : "127.0.0.1") + port;
}

}  // namespace lockstep::launcher
