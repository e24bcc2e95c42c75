#include "common/domain/targets/machine_fault.h"

namespace lockstep {

Word describe(MachineFault fault) {
  switch (fault) {
    case MachineFault::unreachable: return {0, "unreachable"};
    case MachineFault::host_key: return {1, "host_key"};
    case MachineFault::unauthenticated: return {2, "unauthenticated"};
    case MachineFault::unsupported: return {3, "unsupported"};
    case MachineFault::no_space: return {4, "no_space"};
    case MachineFault::no_permission: return {5, "no_permission"};
    case MachineFault::launcher_unreachable: return {6, "launcher_unreachable"};
    case MachineFault::timed_out: return {7, "timed_out"};
    case MachineFault::conflict: return {8, "conflict"};
    case MachineFault::failed: return {9, "failed"};
  }
  return {};
}
std::string_view to_string(MachineFault fault) { return describe(fault).word; }

std::optional<MachineFault> machine_fault_from(std::string_view word) {
  return with_word<MachineFault>(word);
}

}  // namespace lockstep
