#pragma once
// Who this node is to its launcher: what joining gave it, kept for ever in <home>/identity.json.

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/messages.h"
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

// An endpoint as this node must dial it: the host of `launcher` in place of one that names no host
// (*, 0.0.0.0, [::]), or that is a loopback address while `launcher` is not.
std::string reachable(const std::string& endpoint, const std::string& launcher);

// Asks for membership over the join socket, with our key. Blocks, at most `timeout`.
Result<Identity> join(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const std::string& launcher, const io::KeyPair& keys, const std::string& name,
                      Duration timeout);

}  // namespace lockstep::agent
