#pragma once
// The network that the ranks of an attempt use among their nodes, for `job show`. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// "    network: ens5 on n1, data0 on n2; round trip 0.08 ms, 9.4 Gbit/s\n", and a line for a
// network that does not reach all nodes. "": the network of the attempt was not probed.
std::string network_lines(const std::string& job, const AttemptView& attempt);

}  // namespace lockstep::cli
