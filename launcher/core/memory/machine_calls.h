#pragma once
// The provider calls that are in progress, and what is known about their machines and targets
// beside the state. Not part of State: after a restart no call is in progress, and machines/rules.h
// starts calls again.

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

// The record of one machine. effects.cc removes it when the machine is gone.
struct MachineRecord {
  struct Work {
    std::uint64_t call = 0;
    // The step that runs now; none: the provider has named none yet.
    std::optional<std::string> step;
  };
  // The provider accepted the machine and will make it when it can. After `not_before`, `create` is
  // called again.
  struct Waiting {
    Why why;
    Instant not_before;
  };
  // The time at which an agent on a LOST node may be started again.
  struct Revival {
    int attempts = 0;
    Instant not_before;
  };
  std::optional<Work> work;  // the call that works on the machine
  std::optional<Waiting> waiting;
  Revival revival;
  std::optional<Instant> idle_since;  // for an elastic target: since when its node has held no part
  // The last `create` of this process failed before it installed anything. False also if this is
  // unknown: a call whose result was lost in a crash may have reached the machine.
  bool is_untouched = false;
  bool must_refresh = false;  // `create` must be called although the machine has a node
};

struct MachineCalls {
  struct Call {
    std::string target;
    ProviderVerb verb = ProviderVerb::create;
    std::set<std::string> open;  // the machines that have no result yet
    std::set<std::string> machines;
    bool is_stopping = false;
  };
  // The record of one target, until it is deleted.
  struct Target {
    std::map<std::string, MachineRecord> machines;
    std::optional<std::uint64_t> listing;  // the running call of `list`
    std::optional<Instant> list_at;        // when the next call of `list` is due
    Instant schedules_seen;  // for a compute instance: its schedules were applied up to this time
  };
  std::uint64_t last = 0;
  std::map<std::uint64_t, Call> calls;
  std::map<std::string, Target> targets;
  // By target; the machines in the last HoldMachines.
  std::map<std::string, std::vector<std::string>> held;

  // Null: there is no record of the machine.
  MachineRecord* find(const std::string& target, const std::string& machine) {
    const auto found = targets.find(target);
    if (found == targets.end()) return nullptr;
    const auto record = found->second.machines.find(machine);
    return record == found->second.machines.end() ? nullptr : &record->second;
  }
  // The record of a machine for reading: an empty one if there is none.
  const MachineRecord& of(const std::string& target, const std::string& machine) const {
    static const MachineRecord kNothing{};
    const MachineRecord* found = const_cast<MachineCalls*>(this)->find(target, machine);
    return found == nullptr ? kNothing : *found;
  }
  // The record of a machine for writing; made if there is none. The machine must exist.
  MachineRecord& record(const std::string& target, const std::string& machine) {
    return targets[target].machines[machine];
  }
  void forget(const std::string& target, const std::string& machine) {
    if (const auto found = targets.find(target); found != targets.end())
      found->second.machines.erase(machine);
  }
};

}  // namespace lockstep::launcher
