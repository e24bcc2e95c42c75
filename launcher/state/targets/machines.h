#pragma once
// The machines of compute targets: hosts that a provider makes into nodes. These facts and the part
// of State that follows from them; machines/rules.h decides which calls of providers are due.
// docs/decisions/039-machines.md.

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct MachineWanted {
  std::string target, machine;
  Why why;
  friend bool operator==(const MachineWanted&, const MachineWanted&) = default;
};
struct MachineFound {  // the provider has it under our tag, and the launcher did not know it: it
                       // leaves
  std::string target, machine;
  friend bool operator==(const MachineFound&, const MachineFound&) = default;
};
struct MachineCreated {  // the provider says that it runs
  std::string target, machine;
  std::map<std::string, std::string> about;  // what the provider found out
  // Of one that ends by itself, as a job of Slurm with a time limit does: how long it lives in all,
  // and when it ends. Zero: it does not, or the provider does not say.
  Duration lifetime{0};
  Instant ends = {};
  bool is_held = false;  // its provider keeps something up for it, such as a tunnel
  friend bool operator==(const MachineCreated&, const MachineCreated&) = default;
};
struct MachineFailed {  // a call of the provider failed for it
  std::string target, machine;
  std::string step;
  MachineFault fault = MachineFault::failed;
  Why why;
  Instant not_before;     // of the next call
  bool removing = false;  // the call was to remove it
  friend bool operator==(const MachineFailed&, const MachineFailed&) = default;
};
struct MachineLeaving {  // it must go when its node holds no part
  std::string target, machine;
  Why why;
  bool force = false;  // at once, and it is forgotten even if the provider cannot remove it
  friend bool operator==(const MachineLeaving&, const MachineLeaving&) = default;
};
struct MachineGone {  // removed by the provider, or forgotten by force
  std::string target, machine;
  Why why;
  friend bool operator==(const MachineGone&, const MachineGone&) = default;
};

struct Machine {
  struct Wanted {
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  struct Created {
    friend bool operator==(const Created&, const Created&) = default;
  };
  struct Leaving {
    bool force = false;
    friend bool operator==(const Leaving&, const Leaving&) = default;
  };
  struct Failure {
    std::string step;
    MachineFault fault = MachineFault::failed;
    Why why;
    bool removing = false;  // the call was to remove it
    int in_a_row = 0;       // calls that failed; 0: it began to leave after the last of them
    friend bool operator==(const Failure&, const Failure&) = default;
  };
  std::variant<Wanted, Created, Leaving> phase;
  Instant since;         // in this phase
  Why why;               // why it is wanted, or why it leaves
  NodeId node;           // 0: no agent of it has joined
  bool reached = false;  // something of it was installed on its host
  std::map<std::string, std::string> about;
  Duration lifetime{0};  // as in MachineCreated
  Instant ends;
  bool is_held = false;            // as in MachineCreated
  std::optional<Failure> failure;  // of the last call, if that failed
  Instant not_before;              // of the next call; ns = 0: now

  bool is_wanted() const { return std::holds_alternative<Wanted>(phase); }
  bool is_created() const { return std::holds_alternative<Created>(phase); }
  bool is_leaving() const { return std::holds_alternative<Leaving>(phase); }
  bool is_forced() const {  // to leave
    const auto* leaving = std::get_if<Leaving>(&phase);
    return leaving != nullptr && leaving->force;
  }
  int failures() const { return failure ? failure->in_a_row : 0; }
  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace lockstep::launcher
