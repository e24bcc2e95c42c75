#pragma once
// The machine that an agent runs on, and whether its node offers only a part of it. Agents with
// equal ids see the same processes, so they offer the same cpus and memory.

#include <string>

#include "common/base/bytes.h"
#include "common/base/table.h"

namespace lockstep {

inline constexpr std::size_t kMaxMachineIdBytes = 300;

struct MachinePart {
  std::string id;          // boot id and namespaces; "": not reported
  std::string machine_id;  // the text of /etc/machine-id, for people; "": none
  Bytes memory;            // the memory that an agent on the machine can offer
  bool is_part = false;    // true: --share, --cpus or --memory was given
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id, {.bytes = kMaxMachineIdBytes});
    see(field<2>, "machine_id", s.machine_id, {.bytes = kMaxMachineIdBytes});
    see(field<3>, "memory", s.memory);
    see(field<4>, "is_part", s.is_part);
  }
  friend bool operator==(const MachinePart&, const MachinePart&) = default;
};

}  // namespace lockstep
