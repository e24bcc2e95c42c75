#pragma once
// The machine that an agent runs on, and whether its node is said to be a part of it. Agents with
// equal ids see the same processes, so what they offer is the same cpus and memory.

#include <string>

#include "common/base/bytes.h"

namespace lockstep {

struct MachinePart {
  std::string id;          // boot id and namespaces; "": not reported
  std::string machine_id;  // of /etc/machine-id, for people; "": none
  Bytes memory;            // that an agent there can offer
  bool is_part = false;    // --share, --cpus or --memory said so
  friend bool operator==(const MachinePart&, const MachinePart&) = default;
};

}  // namespace lockstep
