#pragma once
// Takes the inventory of this node: runs every probe once. A probe that fails adds a line to
// `limitations`; none prevents the agent's start.

#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/node.h"

namespace lockstep::agent {

// The share of the machine that this node offers; absent = all of it.
struct Share {
  std::string cpus;  // "" | a count ("4") | a list with a comma or a dash ("0-3,8")
  std::optional<Bytes> memory;
  std::string gpus;  // "" | "none" | a count ("2", the first ones) | a list ("2,3", "5-5") |
                     // a share ("1/4": the second of four equal ones)
};

struct InventoryRequest {
  Share share;
  std::string home;               // the file system of the attempts
  std::string launcher_endpoint;  // the address is the one that routes there
  std::string advertise;          // an address to say instead, or ""
  std::string network;            // label, or ""
};

// invalid_argument: the share asks for more than the machine has.
Result<Inventory> take_inventory(const InventoryRequest& request);

}  // namespace lockstep::agent
