#pragma once
// The machines of compute targets: hosts that a provider makes into nodes. This file has their
// facts and the part of State that follows from them; machines/rules.h decides which calls of
// providers are due. docs/decisions/039-machines.md.

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct MachineWanted {
  static constexpr int kBody = 84;
  std::string target, machine;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
  friend bool operator==(const MachineWanted&, const MachineWanted&) = default;
};
// The provider listed it as ours, and the launcher did not know it, so it leaves.
struct MachineFound {
  static constexpr int kBody = 100;
  std::string target, machine;
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
  }
  friend bool operator==(const MachineFound&, const MachineFound&) = default;
};
struct MachineCreated {  // the provider reported that it runs
  static constexpr int kBody = 85;
  std::string target, machine;
  std::map<std::string, std::string> about;  // the data that the provider reported about it
  // For a machine that ends by itself, such as a job of Slurm with a time limit: its whole
  // lifetime, and when it ends. Zero: it does not, or the provider does not tell.
  Duration lifetime{0};
  Instant ends = {};
  bool is_held = false;  // the provider keeps something up for it, such as a tunnel
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
    see(field<3>, "about", s.about, {.count = 2 * kMaxMachineFindings});
    see(field<4>, "lifetime", s.lifetime);
    see(field<5>, "ends", s.ends);
    see(field<6>, "is_held", s.is_held);
  }
  friend bool operator==(const MachineCreated&, const MachineCreated&) = default;
};
struct MachineFailed {  // a call of the provider failed for it
  static constexpr int kBody = 86;
  std::string target, machine;
  std::string step;
  MachineFault fault = MachineFault::failed;
  Why why;
  Instant not_before;     // the time of the next call
  bool removing = false;  // the call was to remove it
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
    see(field<3>, "step", s.step, kCutText);
    see(field<4>, "code", word_or<MachineFault::failed>(s.fault));
    see(reason_or_old_text<5, 8>, "message", s.why);
    see(field<6>, "not_before", s.not_before);
    see(field<7>, "removing", s.removing);
  }
  friend bool operator==(const MachineFailed&, const MachineFailed&) = default;
};
struct MachineLeaving {  // the machine must go when its node holds no part
  static constexpr int kBody = 87;
  std::string target, machine;
  Why why;
  bool force = false;  // at once, and it is forgotten even if the provider cannot remove it
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
    see(reason_or_old_text<3, 5>, "why", s.why);
    see(field<4>, "force", s.force);
  }
  friend bool operator==(const MachineLeaving&, const MachineLeaving&) = default;
};
struct MachineGone {  // removed by the provider, or forgotten by force
  static constexpr int kBody = 88;
  std::string target, machine;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "machine", s.machine);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
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
    bool removing = false;  // the failed call was to remove it
    int in_a_row = 0;  // the number of failed calls; 0: it began to leave after the last failure
    friend bool operator==(const Failure&, const Failure&) = default;
  };
  std::variant<Wanted, Created, Leaving> phase;
  Instant since;         // when it entered this phase
  Why why;               // why it is wanted, or why it leaves
  NodeId node;           // 0: its agent has not joined
  bool reached = false;  // something was installed on its host
  std::map<std::string, std::string> about;
  Duration lifetime{0};  // the same field as in MachineCreated
  Instant ends;
  bool is_held = false;            // the same field as in MachineCreated
  std::optional<Failure> failure;  // the failure of the last call; none: it succeeded
  Instant not_before;              // no call is made before this; ns = 0: now

  bool is_wanted() const { return std::holds_alternative<Wanted>(phase); }
  bool is_created() const { return std::holds_alternative<Created>(phase); }
  bool is_leaving() const { return std::holds_alternative<Leaving>(phase); }
  bool is_forced() const {  // whether the machine must leave by force
    const auto* leaving = std::get_if<Leaving>(&phase);
    return leaving != nullptr && leaving->force;
  }
  int failures() const { return failure ? failure->in_a_row : 0; }
  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace lockstep::launcher
