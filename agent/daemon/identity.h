#pragma once
// Who this node is to its launcher: what joining gave it, kept for ever in <home>/identity.json.

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/join_messages.h"
#include "common/io/transport.h"
#include "common/wire/join_token.h"

namespace lockstep::agent {

struct Identity {
  NodeId node;
  std::string name;
  PublicKey launcher_key;
  std::string control_endpoint;
  std::string bulk_endpoint;
  friend bool operator==(const Identity&, const Identity&) = default;
};

// nullopt: this home has not joined yet. corrupt: the file is damaged.
Result<std::optional<Identity>> load_identity(const std::string& path);
Status save_identity(const std::string& path, const Identity& identity);

// A launcher's three sockets, tcp://host:port each; `join` is "" once it is not needed any more.
struct Endpoints {
  std::string control, bulk, join;
  friend bool operator==(const Endpoints&, const Endpoints&) = default;
};
Endpoints endpoints_of(const wire::JoinToken& token);
Endpoints endpoints_of(const Identity& identity);

// What a person says with --launcher wins over what the launcher told: its host (NAT), and its port
// as that of the control socket, from which the others keep their distance (port forwards). A port
// that is one of `told` changes no port. "": `told` as it is. invalid_argument: no tcp://HOST:PORT.
Result<Endpoints> as_dialled(Endpoints told, const std::string& launcher);

// Asks for membership over the join socket at `at`, with our key. Blocks, at most `timeout`.
Result<Identity> join(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const Endpoints& at, const io::KeyPair& keys, const std::string& name,
                      Duration timeout);

// What --name may be; a host name is made to fit by the launcher, a name that somebody chose is not
// changed behind their back.
Status check_node_name(const std::string& name);

}  // namespace lockstep::agent
