#include "common/domain/targets/machine_fault.h"

namespace lockstep {

std::string_view to_string(MachineFault fault) {
  switch (fault) {
    case MachineFault::unreachable: return "unreachable";
    case MachineFault::host_key: return "host_key";
    case MachineFault::unauthenticated: return "unauthenticated";
    case MachineFault::unsupported: return "unsupported";
    case MachineFault::no_space: return "no_space";
    case MachineFault::no_permission: return "no_permission";
    case MachineFault::launcher_unreachable: return "launcher_unreachable";
    case MachineFault::timed_out: return "timed_out";
    case MachineFault::conflict: return "conflict";
    case MachineFault::failed: break;
  }
  return "failed";
}

std::optional<MachineFault> machine_fault_from(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(last_enumerator(MachineFault{})); ++i)
    if (const auto fault = static_cast<MachineFault>(i); to_string(fault) == word) return fault;
  return std::nullopt;
}

}  // namespace lockstep
