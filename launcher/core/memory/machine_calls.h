#pragma once
// The calls of providers that are in progress, and what is known beside the state of the machines
// and targets that they work on. Not part of State: after a restart no call is in progress, and
// machines/rules.h calls again.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

// One machine, until it is gone: effects.cc then forgets the record.
struct MachineRecord {
  struct Work {
    std::uint64_t call = 0;
    std::optional<std::string> step;  // that runs now; none: the provider has named none yet
  };
  // The provider accepted the machine, and will make it when it can: `create` asks again then.
  struct Waiting {
    Why why;
    Instant not_before;
  };
  // When an agent on a LOST node may be started again.
  struct Revival {
    int attempts = 0;
    Instant not_before;
  };
  std::optional<Work> work;  // a call works on it
  std::optional<Waiting> waiting;
  Revival revival;
  std::optional<Instant> idle_since;  // of an elastic target; its node holds no part
  // The last `create` of this process failed before it installed anything. A machine of which that
  // is not known may have been reached by a call whose result was lost in a crash.
  bool is_untouched = false;
  bool must_refresh = false;  // `create` is wanted although it has a node
};

struct MachineCalls {
  struct Call {
    std::string target;
    ProviderVerb verb = ProviderVerb::create;
    std::set<std::string> open;  // its machines that have no result yet
    std::set<std::string> machines;
    bool is_stopping = false;
  };
  // One target, until it is deleted.
  struct Target {
    std::map<std::string, MachineRecord> machines;
    std::optional<std::uint64_t> listing;  // the call of `list` that runs
    std::optional<Instant> list_at;        // when the next one is due
    Instant schedules_seen;                // of a compute instance; looked at up to then
  };
  std::uint64_t last = 0;
  std::map<std::uint64_t, Call> calls;
  std::map<std::string, Target> targets;
  std::map<std::string, std::vector<std::string>> held;  // by target, as the shell was told last

  // Null: nothing is known of the machine.
  MachineRecord* find(const std::string& target, const std::string& machine) {
    const auto found = targets.find(target);
    if (found == targets.end()) return nullptr;
    const auto record = found->second.machines.find(machine);
    return record == found->second.machines.end() ? nullptr : &record->second;
  }
  // To read: an empty one, if nothing is known of the machine.
  const MachineRecord& of(const std::string& target, const std::string& machine) const {
    static const MachineRecord kNothing{};
    const MachineRecord* found = const_cast<MachineCalls*>(this)->find(target, machine);
    return found == nullptr ? kNothing : *found;
  }
  // To remember something of a machine that is there.
  MachineRecord& record(const std::string& target, const std::string& machine) {
    return targets[target].machines[machine];
  }
  void forget(const std::string& target, const std::string& machine) {
    if (const auto found = targets.find(target); found != targets.end())
      found->second.machines.erase(machine);
  }
};

}  // namespace lockstep::launcher
