#pragma once
// Finds in the last output of a rank that its connection to another node of the gang broke, as
// gloo, NCCL, torch, UCX and Open MPI write it. Pure. The output is the rank's own: a name in it
// counts only if it is a node of its gang.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/runners/assignment.h"

namespace lockstep::runner {

// Nodes by address and by host name, as such output names them. A name may belong to several nodes;
// they are sorted.
using NodesByName = std::map<std::string, std::vector<int>, std::less<>>;
// The nodes of a gang by the names and addresses that ranks may use. `launchers`: the table from
// before the probe chose addresses; absent: it has the same.
NodesByName nodes_by_name(const GangTable& gang, const SharedGang& launchers = {});

struct NamedPeer {
  std::string address;     // "": none is named
  std::vector<int> nodes;  // node ranks that have it
};
// The last node that is named. `own`: the node rank of the rank itself, which is named in such
// output as well.
NamedPeer peer_named_in(std::string_view stderr_tail, const NodesByName& names, int own);

}  // namespace lockstep::runner
