#include "launcher/sockets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/domain/bulk.h"
#include "common/domain/messages.h"
#include "common/io/process.h"
#include "launcher/endpoint_file.h"
#include "launcher/gatekeeper.h"

namespace lockstep::launcher {

namespace {

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

Result<Sockets> bind_all(io::Transport& transport, const io::KeyPair& keys, const Endpoints& at) {
  constexpr std::int64_t kEnvelopeBytes = 1 << 20;  // beside the largest body
  io::SocketLimits control, bulk, join;
  control.max_message_bytes = static_cast<std::int64_t>(kMaxControlMessageBytes);
  bulk.max_message_bytes = static_cast<std::int64_t>(kMaxBulkMessageBytes) + kEnvelopeBytes;
  bulk.high_water_mark = 512;
  join.max_message_bytes = static_cast<std::int64_t>(kMaxJoinMessageBytes);
  join.high_water_mark = 100;
  TRY_ASSIGN(auto control_socket,
             io::ServerSocket::bind(transport, at.control, kControlDomain, keys, control));
  TRY_ASSIGN(auto bulk_socket, io::ServerSocket::bind(transport, at.bulk, kBulkDomain, keys, bulk));
  TRY_ASSIGN(auto join_socket, io::ServerSocket::bind(transport, at.join, kJoinDomain, keys, join));
  return Sockets{std::move(control_socket), std::move(bulk_socket), std::move(join_socket)};
}

}  // namespace

Result<Sockets> Sockets::bind(io::Transport& transport, const io::KeyPair& keys,
                              const std::optional<Listen>& listen,
                              const std::string& endpoint_file) {
  if (listen) return bind_all(transport, keys, from(*listen));
  const auto before = read_endpoint_file(endpoint_file);
  const auto loopback = [](const std::string& text) {
    return text.rfind("tcp://127.0.0.1:", 0) == 0;
  };
  if (before && loopback(before->control) && loopback(before->bulk) && loopback(before->join)) {
    auto again = bind_all(transport, keys, {before->control, before->bulk, before->join});
    if (again) return again;
    spdlog::warn("the ports of last time are taken, so agents must be started again: {}",
                 again.error().message);
  }
  return bind_all(transport, keys, any_on("127.0.0.1"));
}

std::string advertised(const std::string& endpoint, const std::string& advertise) {
  const auto colon = endpoint.rfind(':');
  const std::string prefix = "tcp://";
  if (endpoint.rfind(prefix, 0) != 0) return endpoint;
  std::string host = endpoint.substr(prefix.size(), colon - prefix.size());
  const bool everywhere = host == "0.0.0.0" || host == "[::]" || host == "*";
  if (!advertise.empty())
    host = advertise;
  else if (everywhere)
    host = io::host_name();
  return prefix + host + endpoint.substr(colon);
}

}  // namespace lockstep::launcher
