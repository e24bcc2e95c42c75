#pragma once
// Why a target's machines are wanted, leave and are gone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- why a machine is wanted --------------------------------------------------------------------

struct HostOfTarget {
  static constexpr std::string_view kCode = "host_of_target";
  LOCKSTEP_FIELDS(HostOfTarget);
};

struct JobsNeedMachine {
  static constexpr std::string_view kCode = "jobs_need_machine";
  std::int64_t jobs = 0;
  JobId first;  // the first of them in the queue
  LOCKSTEP_FIELDS(JobsNeedMachine, jobs, first);
};

struct MinInstances {
  static constexpr std::string_view kCode = "min_instances";
  int instances = 0;
  LOCKSTEP_FIELDS(MinInstances, instances);
};

struct InstanceIsOn {
  static constexpr std::string_view kCode = "instance_is_on";
  Why why;  // why it was started
  LOCKSTEP_FIELDS(InstanceIsOn, why);
};

// ---- why a machine leaves -----------------------------------------------------------------------

struct InstanceIsOff {
  static constexpr std::string_view kCode = "instance_is_off";
  Why why;  // why it was stopped
  LOCKSTEP_FIELDS(InstanceIsOff, why);
};

struct NoJobFitsMachine {  // No waiting job fits the machine.
  static constexpr std::string_view kCode = "no_job_fits_machine";
  LOCKSTEP_FIELDS(NoJobFitsMachine);
};

struct MachineNodeLost {
  static constexpr std::string_view kCode = "machine_node_lost";
  Why why;
  LOCKSTEP_FIELDS(MachineNodeLost, why);
};

struct MachineNotMade {
  static constexpr std::string_view kCode = "machine_not_made";
  Why why;  // MachineStepFailed
  LOCKSTEP_FIELDS(MachineNotMade, why);
};

struct MachineNotNeeded {
  static constexpr std::string_view kCode = "machine_not_needed";
  LOCKSTEP_FIELDS(MachineNotNeeded);
};

struct MachineIdle {
  static constexpr std::string_view kCode = "machine_idle";
  Duration idle{0};
  LOCKSTEP_FIELDS(MachineIdle, idle);
};

struct TargetDeleted {
  static constexpr std::string_view kCode = "target_deleted";
  LOCKSTEP_FIELDS(TargetDeleted);
};

struct HostNotOfTarget {  // The target does not have the host any more.
  static constexpr std::string_view kCode = "host_not_of_target";
  LOCKSTEP_FIELDS(HostNotOfTarget);
};

struct MachineRestarted {
  static constexpr std::string_view kCode = "machine_restarted";
  std::string by;
  LOCKSTEP_FIELDS(MachineRestarted, by);
};

struct HostDetached {
  static constexpr std::string_view kCode = "host_detached";
  std::string by;
  LOCKSTEP_FIELDS(HostDetached, by);
};

struct MachineNodeRevoked {
  static constexpr std::string_view kCode = "machine_node_revoked";
  std::string by;
  LOCKSTEP_FIELDS(MachineNodeRevoked, by);
};

struct MachineTakenAway {
  static constexpr std::string_view kCode = "machine_taken_away";
  Why why;
  LOCKSTEP_FIELDS(MachineTakenAway, why);
};

struct MachineNotKnown {  // The provider lists the machine, and the launcher did not know it.
  static constexpr std::string_view kCode = "machine_not_known";
  LOCKSTEP_FIELDS(MachineNotKnown);
};

// ---- why a machine is gone ----------------------------------------------------------------------

struct MachineNeverReached {
  static constexpr std::string_view kCode = "machine_never_reached";
  LOCKSTEP_FIELDS(MachineNeverReached);
};

struct MachineForgotten {  // Deleted by force, although it could not be removed.
  static constexpr std::string_view kCode = "machine_forgotten";
  Why why;  // MachineStepFailed: why it could not be removed
  LOCKSTEP_FIELDS(MachineForgotten, why);
};

struct MachineRemoved {  // The provider removed it.
  static constexpr std::string_view kCode = "machine_removed";
  LOCKSTEP_FIELDS(MachineRemoved);
};

// ---- what an elastic target did last ------------------------------------------------------------

struct ScaledUp {
  static constexpr std::string_view kCode = "scaled_up";
  std::string machine;
  Why why;
  LOCKSTEP_FIELDS(ScaledUp, machine, why);
};

struct ScaledDown {
  static constexpr std::string_view kCode = "scaled_down";
  std::string machine;
  Why why;
  LOCKSTEP_FIELDS(ScaledDown, machine, why);
};

struct MachinesLackAccount {
  static constexpr std::string_view kCode = "machines_lack_account";
  std::string account;
  Why why;
  LOCKSTEP_FIELDS(MachinesLackAccount, account, why);
};

// ---- why jobs wait for machines, or would wait in vain -----------------------------------------

struct NeedsMoreHosts {
  static constexpr std::string_view kCode = "needs_more_hosts";
  NodesAsked asked;
  std::string target;
  std::int64_t hosts = 0;  // the target's hosts
  LOCKSTEP_FIELDS(NeedsMoreHosts, asked, target, hosts);
};

struct WaitsForMachines {  // Machines are being made for the job, or could be.
  static constexpr std::string_view kCode = "waits_for_machines";
  NodesAsked asked;
  std::string target;
  std::int64_t nodes = 0;           // the target's nodes
  std::int64_t coming = 0;          // machines that are being made
  std::int64_t leaving = 0;         // machines that are being removed
  Why pending;                      // what the provider reports about the first that is being made
  Why failure;                      // why the last machine failed
  std::optional<Instant> retry_at;  // the next is tried then
  LOCKSTEP_FIELDS(WaitsForMachines, asked, target, nodes, coming, leaving, pending, failure,
                  retry_at);
};

struct HeldByParent {  // a job that waits for this one holds what this one needs
  static constexpr std::string_view kCode = "held_by_parent";
  std::string step;  // the step of the pipeline; "": the job is not a pipeline
  NodesAsked asked;
  JobId parent;
  std::string target;
  std::vector<std::string> nodes;  // the first nodes
  LOCKSTEP_FIELDS(HeldByParent, step, asked, parent, target, nodes);
};

struct StartsAfterParent {
  static constexpr std::string_view kCode = "starts_after_parent";
  Why why;  // HeldByParent
  LOCKSTEP_FIELDS(StartsAfterParent, why);
};

using MachineReasons =
    List<HostOfTarget, JobsNeedMachine, MinInstances, InstanceIsOn, InstanceIsOff, NoJobFitsMachine,
         MachineNodeLost, MachineNotMade, MachineNotNeeded, MachineIdle, TargetDeleted,
         HostNotOfTarget, MachineRestarted, HostDetached, MachineNodeRevoked, MachineTakenAway,
         MachineNotKnown, MachineNeverReached, MachineForgotten, MachineRemoved, ScaledUp,
         ScaledDown, MachinesLackAccount, NeedsMoreHosts, WaitsForMachines, HeldByParent,
         StartsAfterParent>;

}  // namespace lockstep
