#include "tests/sim/coverage.h"

#include <algorithm>

namespace lockstep::sim {

namespace {

constexpr std::string_view kTransitions[] = {
    "job:Queued->Preparing",        "job:Queued->Canceled",           "job:Queued->CancelRequested",
    "job:Preparing->Starting",
    "job:Preparing->Running",  // of one node: it starts as soon as it is prepared
    "job:Preparing->Finalizing",    "job:Preparing->CancelRequested", "job:Starting->Running",
    "job:Starting->Finalizing",     "job:Starting->CancelRequested",  "job:Running->Finalizing",
    "job:Running->CancelRequested", "job:Finalizing->Completed",      "job:Finalizing->Failed",
    "job:Finalizing->Queued",       "job:CancelRequested->Canceled",  "liveness:ALIVE->UNKNOWN",
    "liveness:UNKNOWN->ALIVE",      "liveness:UNKNOWN->LOST",         "liveness:LOST->ALIVE",
};

// Possible, but too rare to be asked of every run.
constexpr std::string_view kRareTransitions[] = {
    "job:Finalizing->CancelRequested",  // canceled while the verdict is held for an UNKNOWN node
};

constexpr std::string_view kRequired[] = {
    "fault:net_drop",
    "fault:net_duplicate",
    "fault:net_slow",
    "fault:net_late",
    "fault:runner_socket_loss",
    "fault:staging_fails",
    "fault:staging_slow",
    "fault:start_fails",
    "fault:commit_fails",
    "fault:crash_before_commit",
    "fault:crash_after_commit",
    "fault:crash_amid_actions",
    "fault:disk_stall",
    "launcher:hears_in_write",
    "fault:log_slow",
    "fault:collecting_slow",
    "agent:outputs_wait",
    "agent:no_space",
    "agent:settle_outputs",
    "fault:no_space",
    "launcher:refuses_logs",
    "launcher:gives_up_logs",
    "agent:capture_folders",
    "agent:capture_checkpoint",
    "agent:start_with_lease",
    "agent:lease_over",
    "runner:lease_over",
    "fault:checkpoint_slow",
    "fault:environment_fails",
    "fault:environment_slow",
    "fault:other_libraries",
    "agent:solve",
    "agent:passes_solving_on",
    "agent:solves_at_last",
    "agent:leave_environment",
    "fact:EnvironmentWanted",
    "fact:EnvironmentLocked",
    "fact:EnvironmentReset",
    "fact:EnvironmentNotSolved",
    "fault:partition_one_way",
    "fact:CheckpointSaved",
    "fact:FenceLifted",
    "fault:port_taken",
    "fault:launcher_crash",
    "fault:launcher_stop",
    "fault:agent_crash",
    "fault:agent_crash_twice",
    "fault:agent_stop",
    "fault:runner_crash",
    "fault:spawn_crash",
    "fault:reboot",
    "fault:reboot_fast",
    "fault:partition",
    "fault:clone",
    "fault:low_disk",
    "fault:drain",
    "fault:remove_node",
    "fault:revoke_node",
    "fault:cancel",
    "fault:delete",
    "fault:name_used_again",
    "launcher:compacts",
    "launcher:compacts_away",
    "fact:JobDeleted",
    "fault:client_asks_again",
    "ending:ok",
    "ending:exit_code",
    "ending:signal",
    "ending:out_of_memory",
    "ending:abort",
    "ending:no_finalize",
    "ending:never_connected",
    "ending:not_found",
    "ending:start_failed",
    "ending:aftermath",
    "ending:killed",
    "ending:ignored_term",
    "ending:strays",
    "agent:reconnect",
    "agent:kill_runner",
    "agent:refused",
    "agent:removed",
    "agent:clone_refused",
    "launcher:refuse_session",
    "fault:intruder",
    "fact:ProjectCreated",
    "fact:UserKeyRevoked",
    "fact:QuotaSet",
    "launcher:quota_reached",
    "launcher:isolated",
    "fact:UserAdded",
    "fact:RoleGranted",
    "fact:UserKeyAdded",
    "fact:TokenCreated",
    "fact:ComputeCreated",
    "fact:ComputeUpdated",
    "fact:MachineWanted",
    "fact:MachineCreated",
    "fact:MachineFailed",
    "fact:MachineLeaving",
    "fact:MachineGone",
    "provider:create",
    "provider:remove",
    "fault:provider_fails",
    "fault:provider_crashes",
    "fault:detach_host",
    "launcher:scaled_up",
    "launcher:scaled_down",
    "launcher:preempted",
    "launcher:preempted_with_notice",
    "launcher:stopped_for_notice",
    "fault:take_machine",
    "agent:leaves_machine",
    "launcher:another_pool_goes_on",
    "fact:NodeJoined",
    "fact:NodeApproved",
    "fact:NodeSessionStarted",
    "fact:NodeLost",
    "fact:NodeDrainChanged",
    "fact:NodeRemoved",
    "fact:JobSubmitted",
    "fact:JobShared",
    "fact:JobPriorityChanged",
    "fact:DependencyMet",
    "fact:JobAtHead",
    "launcher:priority_decides",
    "launcher:share_decides",
    "launcher:backfill",
    "launcher:backfill_checked",
    "fact:CancelRequested",
    "fact:AttemptPlaced",
    "fact:GangFormed",
    "fact:PartChanged",
    "fact:PartGone",
    "fact:AttemptDoomed",
    "fact:AttemptEnded",
    "fact:JobRequeued",
    "fact:PartReleased",
    "fact:JobFinished",
    "part:none->staging",
    "part:none->finished",
    "part:staging->prepared",
    "part:staging->running",
    "part:staging->stopping",
    "part:staging->finished",
    "part:prepared->running",
    "part:prepared->stopping",
    "part:prepared->finished",
    "part:running->stopping",
    "part:running->collecting",
    "part:stopping->collecting",
    "part:collecting->finished",
    "part:running->finished",
    "part:stopping->finished",
    "part:none->gone",
    "part:staging->gone",
    "part:prepared->gone",
    "part:running->gone",
    "part:stopping->gone",
    "part:collecting->gone",
    "part:finished->released",
};

bool contains(const auto& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

bool legal_transition(std::string_view name) {
  return contains(kTransitions, name) || contains(kRareTransitions, name);
}

std::vector<std::string_view> never_met(const Counters& counters) {
  std::vector<std::string_view> missing;
  const auto look_for = [&](std::string_view name) {
    if (counters.count(std::string(name)) == 0) missing.push_back(name);
  };
  for (const auto name : kTransitions) look_for(name);
  for (const auto name : kRequired) look_for(name);
  return missing;
}

}  // namespace lockstep::sim
