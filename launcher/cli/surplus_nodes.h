#pragma once
// Local nodes that an earlier `lockstep up` started and the present one does not: taken off the
// launcher's list, so that it shows what there is.

#include "launcher/cli/connection.h"
#include "launcher/cli/home.h"

namespace lockstep::cli {

// Removes the nodes local-N, local-N+1, … of this home, N = `nodes`, unless something of them still
// runs or the launcher refuses; those are tried again the next time. Their identity goes with them.
void remove_surplus_nodes(Connection& connection, const Home& home, int nodes);

}  // namespace lockstep::cli
