#pragma once
// Removes obsolete local nodes from the launcher, so that its list shows only existing nodes: nodes
// that an earlier `lockstep up` started and the current one does not, and nodes that joined a
// launcher that this home no longer has.

#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/messages/views.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/link/endpoint.h"
#include "launcher/cli/local/home.h"

namespace lockstep::cli {

// The id with which the local node of this name joined; 0: it has not joined yet.
NodeId node_id(const LocalHome& home, const std::string& name);

// The key of a running launcher, and the nodes that it knows.
struct Known {
  PublicKey launcher_key;
  std::vector<NodeView> nodes;
};

Result<Known> known_nodes(Connection& connection, const Endpoint& endpoint, Duration timeout);

// True if the local node of this name joined another launcher, or if this launcher lost its journal
// and no longer knows the node. The overload without the node list checks only the key.
bool belongs_to_other_launcher(const LocalHome& home, const std::string& name,
                               const PublicKey& launcher_key);
bool belongs_to_other_launcher(const LocalHome& home, const std::string& name, const Known& known);

// Prepares the start of the agent of `name`. If the agent joined another launcher (because this
// launcher's home was lost, or restored from a backup), deletes its identity, so that it joins this
// launcher anew. Removes a node of its name that can never come back. Returns conflict if the
// agent's node still runs a job.
Status forget_past_node(Connection& connection, const LocalHome& home, const Known& known,
                        const std::string& name);

// Removes the nodes local-N, local-N+1, … of this home, with N = `nodes`, together with their
// identity and the remains of their attempts. Skips a node whose agent or runners still run, or
// that the launcher refuses to remove; the next call tries it again.
void remove_surplus_nodes(Connection& connection, const LocalHome& home, int nodes);

}  // namespace lockstep::cli
