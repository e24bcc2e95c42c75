#pragma once
// The inventory of this node: runs every probe once and combines the results. A probe that finds
// nothing adds a line to `limitations`; no probe makes the agent's start fail.

#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/targets/node.h"

namespace lockstep::agent {

// The share of the machine that this node offers; absent = all of it.
struct Share {
  std::string part;  // "" | "1/2": the first of two equal parts of cpus, memory and gpus
  std::string cpus;  // "" | a count ("4") | a list with a comma or a dash ("0-3,8")
  std::optional<Bytes> memory;
  std::string gpus;  // "" | "none" | a count ("2": the first two) | a list ("2,3", "5-5") |
                     // a share ("1/4": the second of four equal shares)
  bool is_part() const { return !part.empty() || !cpus.empty() || memory.has_value(); }
};

struct InventoryRequest {
  Share share;
  std::string home;               // the agent's home, on the file system of the attempts
  std::string launcher_endpoint;  // the node's address is the local one of the route to it
  std::string advertise;          // an address to report instead, or ""
  std::string network;            // label, or ""
};

// Measures this node. Returns invalid_argument if the share asks for more than the machine has.
Result<Inventory> take_inventory(const InventoryRequest& request);

// The same inventory with its present interfaces, RDMA ports and fabric, which change while a
// machine runs. It may take some milliseconds.
Inventory with_network_now(Inventory inventory);

}  // namespace lockstep::agent
