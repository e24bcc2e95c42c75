#pragma once
// The three sockets of a launcher: control, bulk and join, on neighbouring ports.

#include <functional>
#include <optional>
#include <string>

#include "common/io/transport.h"
#include "launcher/daemon/options.h"

namespace lockstep::launcher {

struct Sockets {
  // Whose connections have no bound in bytes: nodes'.
  using Trusts = std::function<bool(const PublicKey& key)>;
  io::ServerSocket control, bulk, join;

  // `listen` absent: loopback, on the ports that `endpoint_file` of an earlier process names, so
  // that its agents find us again; else, or when these are taken, on any.
  static Result<Sockets> bind(io::Transport& transport, const io::KeyPair& keys,
                              const std::optional<Listen>& listen, const std::string& endpoint_file,
                              Trusts trusts);
};

// The endpoint as other machines shall dial it: with `advertise` as host, or own_address() where
// the socket listens on all interfaces.
std::string advertised(const std::string& endpoint, const std::string& advertise);
// The same for programs on this machine: loopback where it listens on all interfaces.
std::string as_dialled_here(const std::string& endpoint);

}  // namespace lockstep::launcher
