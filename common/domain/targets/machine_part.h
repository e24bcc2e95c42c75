#pragma once
// The machine that an agent runs on, and whether its node is said to be a part of it. Agents with
// equal ids see the same processes, so what they offer is the same cpus and memory.

#include <string>

#include "common/base/bytes.h"
#include "common/base/table.h"

namespace lockstep {

inline constexpr std::size_t kMaxMachineIdBytes = 300;

struct MachinePart {
  std::string id;          // boot id and namespaces; "": not reported
  std::string machine_id;  // the text of /etc/machine-id, for people; "": none
  Bytes memory;            // the memory that an agent on the machine can offer
  bool is_part = false;    // --share, --cpus or --memory said so
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id, {.bytes = kMaxMachineIdBytes});
    see(field<2>, "machine_id", s.machine_id, {.bytes = kMaxMachineIdBytes});
    see(field<3>, "memory", s.memory);
    see(field<4>, "is_part", s.is_part);
  }
  friend bool operator==(const MachinePart&, const MachinePart&) = default;
};

}  // namespace lockstep
