#pragma once
// This node's identity at its launcher. The node gets it when it joins, keeps it in
// <home>/identity.json, and writes it again when the launcher moves.

#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/join_protocol.h"
#include "common/io/net/transport.h"
#include "common/wire/join_token.h"

namespace lockstep::agent {

struct Identity {
  NodeId node;
  std::string name;
  PublicKey launcher_key;
  std::string control_endpoint;
  std::string bulk_endpoint;
  std::vector<LauncherAddress> others = {};  // the addresses to try next: launcher_addresses.h
  friend bool operator==(const Identity&, const Identity&) = default;
};

// Reads the identity. nullopt: this home has not joined yet. Returns corrupt if the file is
// damaged.
Result<std::optional<Identity>> load_identity(const std::string& path);
Status save_identity(const std::string& path, const Identity& identity);

// A launcher's three sockets, each tcp://host:port; `join` is "" once the node has joined.
struct Endpoints {
  std::string control, bulk, join;
  friend bool operator==(const Endpoints&, const Endpoints&) = default;
};
Endpoints endpoints_of(const wire::JoinToken& token);
Endpoints endpoints_of(const Identity& identity);

// Whether it is tcp://HOST:PORT, PORT 1 to 65535.
bool is_tcp_endpoint(const std::string& endpoint);

// The endpoints to dial: the endpoints that the launcher told, changed by --launcher (`launcher`;
// "": no change). Its host replaces theirs (NAT). Its port replaces the control socket's, and moves
// the other ports by the same difference (port forwards); if `told` already has the port, all stay.
// Returns invalid_argument if `launcher` is not tcp://HOST:PORT.
Result<Endpoints> as_dialled(Endpoints told, const std::string& launcher);

// The control socket's endpoint with the bulk socket's, which has the next port.
// invalid_argument: not tcp://HOST:PORT.
Result<LauncherAddress> address_after(const std::string& control);

// Asks to join over the join socket of `at`, with our key. Blocks for at most `timeout`.
Result<Identity> join(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const Endpoints& at, const io::KeyPair& keys, const std::string& name,
                      Duration timeout, const MachinePart& machine = {});

// Whether --name is a valid node name. The launcher adapts a host name to the rules, but it must
// not silently change a name that a person chose.
Status check_node_name(const std::string& name);

}  // namespace lockstep::agent
