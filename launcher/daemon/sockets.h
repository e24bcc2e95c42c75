#pragma once
// The three sockets of a launcher: control, bulk and join, on neighbouring ports.

#include <functional>
#include <optional>
#include <string>

#include "common/io/net/transport.h"
#include "launcher/daemon/options.h"

namespace lockstep::launcher {

struct Sockets {
  // Whether a key's connections have no limit in bytes: true for nodes.
  using Trusts = std::function<bool(const PublicKey& key)>;
  io::ServerSocket control, bulk, join;

  // Without `listen`, binds loopback on the ports in an earlier process's `endpoint_file`, so that
  // its agents find us again. If there is no such file, or the ports are taken, it uses any free
  // ports.
  static Result<Sockets> bind(io::Transport& transport, const io::KeyPair& keys,
                              const std::optional<Listen>& listen, const std::string& endpoint_file,
                              Trusts trusts);
};

// The endpoint for other machines: with `advertise` as host if it is not "", or with own_address()
// if the socket listens on all interfaces.
std::string advertised(const std::string& endpoint, const std::string& advertise);
// The endpoint for programs on this machine: loopback if the socket listens on all interfaces.
std::string as_dialled_here(const std::string& endpoint);

}  // namespace lockstep::launcher
