#pragma once
// The nodes that have joined already: one file for each, so that the next run of a benchmark need
// not join thousands of nodes anew (a launcher lets in only some tens a second).

#include <optional>
#include <string>

#include "agent/daemon/links/identity.h"

namespace lockstep::fleet {

struct Member {
  agent::Identity identity;
  io::KeyPair keys;
};

// In `directory`, or nowhere if it is "". A node that is not there joins and is kept there.
Result<Member> member(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const std::string& directory, const std::string& name);

}  // namespace lockstep::fleet
