#pragma once
// The far end of a reverse tunnel: ports of the host's loopback that lead to the launcher. They are
// chosen once and kept in the host's directory, so that the agent's endpoints never change.

#include <optional>

#include "common/io/file_system.h"
#include "launcher/compute/ssh/client.h"
#include "launcher/compute/ssh/scripts.h"

namespace lockstep::compute::ssh {

// Takes the right to open a machine's tunnel, which one process at a time has. nullopt: another one
// has it.
Result<std::optional<io::FileLock>> lock_tunnel(const std::string& state,
                                                const std::string& machine);

// Opens a tunnel over the client's connection, which lasts as long as that connection. Returns its
// first port; 0: none could be opened. `chooses`: the host may choose the ports. Ports that other
// hosts could reach are refused.
tl::expected<int, Failed> open_tunnel(Client& client, const Install& install,
                                      const Endpoints& launcher, bool chooses);

// The same token with the tunnel's addresses in it.
Result<std::string> token_through(const std::string& token, int port);

}  // namespace lockstep::compute::ssh
