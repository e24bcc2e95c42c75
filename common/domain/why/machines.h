#pragma once
// Why a target's machines are wanted, leave and are gone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- why a machine is wanted --------------------------------------------------------------------

struct HostOfTarget {
  static constexpr std::string_view kCode = "host_of_target";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const HostOfTarget&, const HostOfTarget&) = default;
};

struct JobsNeedMachine {
  static constexpr std::string_view kCode = "jobs_need_machine";
  std::int64_t jobs = 0;
  JobId first;  // the first of them in the queue
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("jobs", self.jobs);
    see("first", self.first);
  }
  friend bool operator==(const JobsNeedMachine&, const JobsNeedMachine&) = default;
};

struct MinInstances {
  static constexpr std::string_view kCode = "min_instances";
  int instances = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("instances", self.instances);
  }
  friend bool operator==(const MinInstances&, const MinInstances&) = default;
};

struct InstanceIsOn {
  static constexpr std::string_view kCode = "instance_is_on";
  Why why;  // why it was started
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const InstanceIsOn&, const InstanceIsOn&) = default;
};

// ---- why a machine leaves -----------------------------------------------------------------------

struct InstanceIsOff {
  static constexpr std::string_view kCode = "instance_is_off";
  Why why;  // why it was stopped
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const InstanceIsOff&, const InstanceIsOff&) = default;
};

struct NoJobFitsMachine {  // of those that wait
  static constexpr std::string_view kCode = "no_job_fits_machine";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoJobFitsMachine&, const NoJobFitsMachine&) = default;
};

struct MachineNodeLost {
  static constexpr std::string_view kCode = "machine_node_lost";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineNodeLost&, const MachineNodeLost&) = default;
};

struct MachineNotMade {
  static constexpr std::string_view kCode = "machine_not_made";
  Why why;  // MachineStepFailed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineNotMade&, const MachineNotMade&) = default;
};

struct MachineNotNeeded {
  static constexpr std::string_view kCode = "machine_not_needed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineNotNeeded&, const MachineNotNeeded&) = default;
};

struct MachineIdle {
  static constexpr std::string_view kCode = "machine_idle";
  Duration idle{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("idle", self.idle);
  }
  friend bool operator==(const MachineIdle&, const MachineIdle&) = default;
};

struct TargetDeleted {
  static constexpr std::string_view kCode = "target_deleted";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const TargetDeleted&, const TargetDeleted&) = default;
};

struct HostNotOfTarget {  // any more
  static constexpr std::string_view kCode = "host_not_of_target";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const HostNotOfTarget&, const HostNotOfTarget&) = default;
};

struct MachineRestarted {
  static constexpr std::string_view kCode = "machine_restarted";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const MachineRestarted&, const MachineRestarted&) = default;
};

struct HostDetached {
  static constexpr std::string_view kCode = "host_detached";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const HostDetached&, const HostDetached&) = default;
};

struct MachineNodeRevoked {
  static constexpr std::string_view kCode = "machine_node_revoked";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const MachineNodeRevoked&, const MachineNodeRevoked&) = default;
};

struct MachineTakenAway {
  static constexpr std::string_view kCode = "machine_taken_away";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineTakenAway&, const MachineTakenAway&) = default;
};

struct MachineNotKnown {  // its provider has it, and the launcher did not know it
  static constexpr std::string_view kCode = "machine_not_known";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineNotKnown&, const MachineNotKnown&) = default;
};

// ---- why a machine is gone ----------------------------------------------------------------------

struct MachineNeverReached {
  static constexpr std::string_view kCode = "machine_never_reached";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineNeverReached&, const MachineNeverReached&) = default;
};

struct MachineForgotten {  // by force
  static constexpr std::string_view kCode = "machine_forgotten";
  Why why;  // MachineStepFailed: why it could not be removed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineForgotten&, const MachineForgotten&) = default;
};

struct MachineRemoved {  // by its provider
  static constexpr std::string_view kCode = "machine_removed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineRemoved&, const MachineRemoved&) = default;
};

// ---- what an elastic target did last ------------------------------------------------------------

struct ScaledUp {
  static constexpr std::string_view kCode = "scaled_up";
  std::string machine;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("machine", self.machine);
    see("why", self.why);
  }
  friend bool operator==(const ScaledUp&, const ScaledUp&) = default;
};

struct ScaledDown {
  static constexpr std::string_view kCode = "scaled_down";
  std::string machine;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("machine", self.machine);
    see("why", self.why);
  }
  friend bool operator==(const ScaledDown&, const ScaledDown&) = default;
};

struct MachinesLackAccount {
  static constexpr std::string_view kCode = "machines_lack_account";
  std::string account;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("account", self.account);
    see("why", self.why);
  }
  friend bool operator==(const MachinesLackAccount&, const MachinesLackAccount&) = default;
};

// ---- why jobs wait for machines, or would wait in vain
// -------------------------------------------

struct NeedsMoreHosts {
  static constexpr std::string_view kCode = "needs_more_hosts";
  NodesAsked asked;
  std::string target;
  std::int64_t hosts = 0;  // of the target
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("hosts", self.hosts);
  }
  friend bool operator==(const NeedsMoreHosts&, const NeedsMoreHosts&) = default;
};

struct WaitsForMachines {  // that are made, or could be
  static constexpr std::string_view kCode = "waits_for_machines";
  NodesAsked asked;
  std::string target;
  std::int64_t nodes = 0;           // of the target
  std::int64_t coming = 0;          // machines that are being made
  std::int64_t leaving = 0;         // machines that are being removed
  Why pending;                      // what the provider says of the first that it has not made yet
  Why failure;                      // of the last machine
  std::optional<Instant> retry_at;  // the next is tried then
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("nodes", self.nodes);
    see("coming", self.coming);
    see("leaving", self.leaving);
    see("pending", self.pending);
    see("failure", self.failure);
    see("retry_at", self.retry_at);
  }
  friend bool operator==(const WaitsForMachines&, const WaitsForMachines&) = default;
};

struct HeldByParent {  // a job that waits for this one holds what this one needs
  static constexpr std::string_view kCode = "held_by_parent";
  std::string step;  // of the pipeline; "": it is none
  NodesAsked asked;
  JobId parent;
  std::string target;
  std::vector<std::string> nodes;  // the first ones
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("asked", self.asked);
    see("parent", self.parent);
    see("target", self.target);
    see("nodes", self.nodes);
  }
  friend bool operator==(const HeldByParent&, const HeldByParent&) = default;
};

struct StartsAfterParent {
  static constexpr std::string_view kCode = "starts_after_parent";
  Why why;  // HeldByParent
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const StartsAfterParent&, const StartsAfterParent&) = default;
};

using MachineReasons =
    List<HostOfTarget, JobsNeedMachine, MinInstances, InstanceIsOn, InstanceIsOff, NoJobFitsMachine,
         MachineNodeLost, MachineNotMade, MachineNotNeeded, MachineIdle, TargetDeleted,
         HostNotOfTarget, MachineRestarted, HostDetached, MachineNodeRevoked, MachineTakenAway,
         MachineNotKnown, MachineNeverReached, MachineForgotten, MachineRemoved, ScaledUp,
         ScaledDown, MachinesLackAccount, NeedsMoreHosts, WaitsForMachines, HeldByParent,
         StartsAfterParent>;

}  // namespace lockstep
