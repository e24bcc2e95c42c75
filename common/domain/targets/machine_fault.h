#pragma once
// How a call of a provider failed for a machine, for the launcher to decide by. Words of the
// contract with providers, docs/decisions/038-providers.md.

#include <optional>
#include <string_view>

#include "common/base/word.h"

namespace lockstep {

enum class MachineFault {
  unreachable,      // nothing answered at its address
  host_key,         // another host answered than the one that was attached
  unauthenticated,  // the machine refused the launcher's key or password
  unsupported,      // the machine's system or processor cannot run the agent
  no_space,
  no_permission,         // the account may not make the directory, or start the agent
  launcher_unreachable,  // the agent cannot reach the launcher, or was refused by it
  timed_out,
  conflict,  // something is there that is not ours
  failed,
};
Word describe(MachineFault fault);
std::string_view to_string(MachineFault fault);  // "host_key"
constexpr MachineFault last_enumerator(MachineFault) { return MachineFault::failed; }
// Reads a word of the contract; nullopt: the contract lacks the word.
std::optional<MachineFault> machine_fault_from(std::string_view word);

}  // namespace lockstep
