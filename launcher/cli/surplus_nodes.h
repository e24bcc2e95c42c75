#pragma once
// Removes local nodes from the launcher's list that an earlier `lockstep up` started and the
// present one does not, or that joined a launcher which no longer exists in this home.

#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/views.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/endpoint.h"
#include "launcher/cli/local_home.h"

namespace lockstep::cli {

// The node id with which this local node joined; 0: it has not joined yet.
NodeId node_id(const LocalHome& home, const std::string& name);

// A launcher that lives, and the nodes that it knows.
struct Known {
  PublicKey launcher_key;
  std::vector<NodeView> nodes;
};

Result<Known> known_nodes(Connection& connection, const Endpoint& endpoint, Duration timeout);

// The local node of this name joined a launcher that is not this one, or that lost its journal.
bool belongs_to_other_launcher(const LocalHome& home, const std::string& name,
                               const PublicKey& launcher_key);
bool belongs_to_other_launcher(const LocalHome& home, const std::string& name, const Known& known);

// Before the agent of `name` starts: when it joined another launcher (this one's home was lost, or
// restored from a backup), it shall join this one anew, and a node of its name that can never come
// back is removed. conflict: it still runs a job.
Status forget_past_node(Connection& connection, const LocalHome& home, const Known& known,
                        const std::string& name);

// Removes the nodes local-N, local-N+1, … of this home, N = `nodes`, unless something of them still
// runs or the launcher refuses; those are tried again the next time. Their identity goes with them,
// and what is left of their attempts.
void remove_surplus_nodes(Connection& connection, const LocalHome& home, int nodes);

}  // namespace lockstep::cli
