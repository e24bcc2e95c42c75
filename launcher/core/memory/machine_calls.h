#pragma once
// The calls of providers that are in progress. Not part of State: after a restart no call is in
// progress, and machines/rules.h calls again.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

struct MachineCalls {
  using Key = std::pair<std::string, std::string>;  // target, machine
  struct Call {
    std::string target;
    ProviderVerb verb = ProviderVerb::create;
    std::set<std::string> open;  // its machines that have no result yet
    std::set<std::string> machines;
    bool is_stopping = false;
  };
  // When an agent on a LOST node may be started again.
  struct Revival {
    int attempts = 0;
    Instant not_before;
  };
  std::uint64_t last = 0;
  std::map<std::uint64_t, Call> calls;
  std::map<Key, std::uint64_t> busy;  // machines in a call
  std::map<Key, std::string> steps;   // that run now
  std::map<Key, Revival> revivals;    // of machines whose node is LOST
  // The last `create` of this process failed before it installed anything. A machine that is not
  // here may have been reached by a call whose result was lost in a crash.
  std::set<Key> untouched;
  std::set<Key> refresh;  // `create` is wanted although they have a node
  // The provider accepted the machine, and will make it when it can: `create` asks again then.
  struct Waiting {
    Why why;
    Instant not_before;
  };
  std::map<Key, Waiting> waiting;
  std::map<Key, Instant> idle_since;  // of machines of elastic targets whose nodes hold no part
  // Of each target, the call of `list` that runs, and when the next one is due.
  std::map<std::string, std::uint64_t> listing;
  std::map<std::string, Instant> list_at;
  // Of each compute instance, the time up to which its schedules were looked at.
  std::map<std::string, Instant> schedules_seen;
  std::map<std::string, std::vector<std::string>> held;  // by target, as the shell was told last
};

}  // namespace lockstep::launcher
