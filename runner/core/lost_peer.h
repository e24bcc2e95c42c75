#pragma once
// Finds in the last words of a rank that its connection to another node of the gang broke, in the
// wordings of gloo, NCCL, torch, UCX and Open MPI. Pure. The words are the rank's own: what they
// name counts only if it is a node of its gang.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/messages/assignment.h"

namespace lockstep::runner {

// By address and by host name, as such words have them: the nodes, which may be several, sorted.
using NodesByName = std::map<std::string, std::vector<int>, std::less<>>;
// `launchers`: the table from before the probe chose addresses; absent: it has the same.
NodesByName nodes_by_name(const GangTable& gang, const SharedGang& launchers = {});

struct NamedPeer {
  std::string address;     // "": none is named
  std::vector<int> nodes;  // node ranks that have it
};
// The last one that is named. `own`: the node rank of the rank itself, which such words name too.
NamedPeer peer_named_in(std::string_view stderr_tail, const NodesByName& names, int own);

}  // namespace lockstep::runner
