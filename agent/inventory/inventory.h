#pragma once
// What this node is and has: runs every probe once and puts the answers together. A probe that
// finds nothing says so in `limitations`; none of them makes a start fail.

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

// invalid_argument: the share asks for what the machine has not.
Result<Inventory> take_inventory(const InventoryRequest& request);

}  // namespace lockstep::agent
