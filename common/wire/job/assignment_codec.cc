#include "common/wire/job/assignment_codec.h"

#include <string_view>

#include "common/grammar/job_name.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/secrets_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/why_codec.h"
#include "proto/assignment.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::NodeTree, NodeTree);
LOCKSTEP_TABLE_CODEC(lockstep::CheckpointSource, CheckpointSource);
LOCKSTEP_TABLE_CODEC(lockstep::CollectedOutput, CollectedOutput);
LOCKSTEP_TABLE_CODEC(lockstep::NotKept, NotKept);
namespace {

static_assert(is_wire_of(lockstep::WantedPhase::prepare, WANTED_PHASE_PREPARE));
static_assert(is_wire_of(lockstep::WantedPhase::run, WANTED_PHASE_RUN));
static_assert(is_wire_of(lockstep::WantedPhase::stop, WANTED_PHASE_STOP));
static_assert(is_wire_of(lockstep::StopReason::canceled, STOP_REASON_CANCELED));
static_assert(is_wire_of(lockstep::StopReason::gang_failed, STOP_REASON_GANG_FAILED));
static_assert(is_wire_of(lockstep::StopReason::superseded, STOP_REASON_SUPERSEDED));

}  // namespace

// Not by number: collecting came later, and stands in the middle of the order.
PartState wire_part_state(lockstep::PartState state) {
  switch (state) {
    case lockstep::PartState::staging: return PART_STATE_STAGING;
    case lockstep::PartState::prepared: return PART_STATE_PREPARED;
    case lockstep::PartState::running: return PART_STATE_RUNNING;
    case lockstep::PartState::stopping: return PART_STATE_STOPPING;
    case lockstep::PartState::collecting: return PART_STATE_COLLECTING;
    case lockstep::PartState::finished: return PART_STATE_FINISHED;
  }
  return PART_STATE_UNSPECIFIED;
}

Status read_part_state(int value, const char* field, lockstep::PartState* out) {
  for (auto state : {lockstep::PartState::staging, lockstep::PartState::prepared,
                     lockstep::PartState::running, lockstep::PartState::stopping,
                     lockstep::PartState::collecting, lockstep::PartState::finished}) {
    if (value != wire_part_state(state)) continue;
    *out = state;
    return {};
  }
  return bad_field(field, "holds an unknown value " + std::to_string(value));
}

Status read_stop_reason(int value, const char* field, lockstep::StopReason* out) {
  return read_enum(value, lockstep::StopReason::superseded, field, out);
}

void to_wire(const lockstep::AttemptId& from, AttemptId* to) {
  to->set_job(from.job.value);
  to->set_number(from.number);
  to->set_era(from.incarnation);
}

Status from_wire(const AttemptId& from, lockstep::AttemptId* to) {
  TRY(read_job(from.job(), "attempt.job", &to->job));
  if (from.number() == 0) return bad_field("attempt.number", "is 0; attempts count from 1");
  to->number = from.number();
  to->incarnation = from.era();
  return {};
}

void to_wire(const lockstep::Allotment& from, Allotment* to) {
  to->mutable_cpus()->Assign(from.cpus.begin(), from.cpus.end());
  to->set_memory_bytes(from.memory.count);
  to->mutable_gpus()->Assign(from.gpus.begin(), from.gpus.end());
}

Status from_wire(const Allotment& from, lockstep::Allotment* to) {
  TRY(read_ids(from.cpus(), "allotment.cpus", &to->cpus));
  to->memory = Bytes{from.memory_bytes()};
  return read_ids(from.gpus(), "allotment.gpus", &to->gpus);
}

void to_wire(const lockstep::GangMember& from, GangMember* to) {
  to->set_node(from.node.value);
  to->set_hostname(from.hostname);
  to->set_address(from.address);
  to->set_host_id(from.host_id);
  to->set_runner_port(from.runner_port);
  to->set_runner_key(from.runner_key.value);
  to->set_gpus(from.gpus);
}

Status from_wire(const GangMember& from, lockstep::GangMember* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.hostname(), "gang.hostname", &to->hostname));
  TRY(read_text(from.address(), "gang.address", &to->address));
  TRY(read_text(from.host_id(), "gang.host_id", &to->host_id));
  TRY(read_port(from.runner_port(), "gang.runner_port", &to->runner_port));
  TRY(read_key(from.runner_key(), "gang.runner_key", &to->runner_key));
  return read_number(from.gpus(), 0, 1 << 16, "gang.gpus", &to->gpus);
}

void to_wire(const lockstep::GangTable& from, GangTable* to) {
  write_list(from.members, to->mutable_members());
  to->set_master_port(from.master_port);
  if (from.fabric) to_wire(*from.fabric, to->mutable_fabric());
}

Status from_wire(const GangTable& from, lockstep::GangTable* to) {
  TRY(read_list(from.members(), kMaxNodesPerJob, "gang.members", &to->members));
  if (from.has_fabric()) TRY(from_wire(from.fabric(), &to->fabric.emplace()));
  return read_port(from.master_port(), "gang.master_port", &to->master_port);
}

void to_wire(const lockstep::GangShare& from, GangShare* to) {
  to->set_nodes(from.nodes);
  to->set_radix(from.radix);
  to->set_digest(std::string(from.digest.view()));
  if (from.parent) to_wire(*from.parent, to->mutable_parent());
  for (const PublicKey& key : from.children) to->add_children(key.value);
}

Status from_wire(const GangShare& from, lockstep::GangShare* to) {
  TRY(read_number(from.nodes(), 1, kMaxNodesPerJob, "share.nodes", &to->nodes));
  TRY(read_number(from.radix(), 1, kMaxGangTreeRadix, "share.radix", &to->radix));
  TRY(read_digest(from.digest(), "share.digest", &to->digest));
  if (from.has_parent()) TRY(from_wire(from.parent(), &to->parent.emplace()));
  TRY(check_count(from.children_size(), kMaxGangTreeRadix, "share.children"));
  for (const std::string& key : from.children())
    TRY(read_key(key, "share.children", &to->children.emplace_back()));
  return {};
}

void to_wire(const lockstep::Assignment& from, Assignment* to) {
  to_wire(from.attempt, to->mutable_attempt());
  to->set_experiment(from.experiment);
  to->set_node_rank(from.node_rank);
  to_wire(from.spec, to->mutable_spec());
  to_wire(from.allotment, to->mutable_allotment());
  to->set_phase(wire_enum<WantedPhase>(from.phase));
  if (from.gang) to_wire(*from.gang, to->mutable_gang());
  to->set_stop_reason(wire_enum<StopReason>(from.stop_reason));
  to->set_grace_ns(from.grace.count());
  to->set_solo(from.solo);
  to->set_lease_ns(from.lease.count());
  if (from.checkpoint) to_wire(*from.checkpoint, to->mutable_checkpoint());
  to_wire(from.environment, to->mutable_environment());
  if (from.secrets) to_wire(*from.secrets, to->mutable_secrets());
  to->set_credential(from.credential);
  if (!from.operator_settings.empty())
    to_wire(from.operator_settings, to->mutable_operator_settings());
  if (from.share) to_wire(*from.share, to->mutable_share());
}

Status from_wire(const Assignment& from, lockstep::Assignment* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_text(from.experiment(), "assignment.experiment", &to->experiment));
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_number(from.node_rank(), 0, to->spec.resources.instance_count - 1,
                  "assignment.node_rank", &to->node_rank));
  TRY(from_wire(from.allotment(), &to->allotment));
  TRY(read_enum(from.phase(), lockstep::WantedPhase::stop, "assignment.phase", &to->phase));
  if (from.has_gang()) {
    lockstep::GangTable gang;
    TRY(from_wire(from.gang(), &gang));
    if (gang.members.size() != static_cast<std::size_t>(to->spec.resources.instance_count))
      return bad_field("assignment.gang", "does not have one member for each node of the job");
    to->gang = std::move(gang);
  }
  TRY(read_stop_reason(from.stop_reason(), "assignment.stop_reason", &to->stop_reason));
  TRY(read_duration(from.grace_ns(), "assignment.grace", &to->grace));
  to->solo = from.solo();
  TRY(read_duration(from.lease_ns(), "assignment.lease", &to->lease));
  if (from.has_checkpoint()) TRY(from_wire(from.checkpoint(), &to->checkpoint.emplace()));
  if (from.has_secrets()) TRY(from_wire(from.secrets(), &to->secrets.emplace()));
  TRY(read_text(from.credential(), "assignment.credential", &to->credential, kMaxCredentialBytes));
  TRY(from_wire(from.operator_settings(), &to->operator_settings));
  if (from.has_share()) {
    TRY(from_wire(from.share(), &to->share.emplace()));
    const std::string_view fault =
        fault_of(*to->share, to->node_rank, to->spec.resources.instance_count);
    if (!fault.empty()) return bad_field("assignment.share", fault);
  }
  return from_wire(from.environment(), &to->environment);
}

void to_wire(const lockstep::DesiredState& from, DesiredState* to) {
  to->set_revision(from.revision);
  write_list(from.assignments, to->mutable_assignments());
  to->set_environments_unused_since_ns(from.environments_unused_since.ns);
}

Status from_wire(const DesiredState& from, lockstep::DesiredState* to) {
  to->revision = from.revision();
  TRY(read_instant(from.environments_unused_since_ns(), "desired.environments_unused_since",
                   &to->environments_unused_since));
  return read_list(from.assignments(), kMaxAssignmentsPerNode, "desired.assignments",
                   &to->assignments);
}

void to_wire(const lockstep::PartReport& from, PartReport* to) {
  to_wire(from.attempt, to->mutable_attempt());
  to->set_state(wire_part_state(from.state));
  to->set_progress(fitting_text(from.progress));
  to->set_runner_port(from.runner_port);
  to->set_runner_key(from.runner_key.value);
  to->set_master_port(from.master_port);
  to->set_started_ns(from.started.ns);
  if (from.exit) to_wire(*from.exit, to->mutable_exit());
  write_list(from.outputs, to->mutable_outputs());
  if (from.restored) to_wire(*from.restored, to->mutable_restored());
  if (from.environment) to_wire(*from.environment, to->mutable_environment());
  write_whys(from.limits, to->mutable_limits(), to->mutable_limits_data());
  if (from.not_kept) to_wire(*from.not_kept, to->mutable_not_kept());
  write_whys(from.notes, to->mutable_notes(), to->mutable_notes_data());
  if (from.clock) to_wire(*from.clock, to->mutable_clock());
  write_list(from.ended, to->mutable_ended());
  if (from.probe) to_wire(*from.probe, to->mutable_probe());
  write_list(from.settings, to->mutable_settings());
  write_list(from.other_settings, to->mutable_other_settings());
  write_found(from.found, to->mutable_found());
  to->set_gang_rows(from.gang_rows);
}

Status from_wire(const PartReport& from, lockstep::PartReport* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_part_state(from.state(), "part.state", &to->state));
  TRY(read_text(from.progress(), "part.progress", &to->progress));
  TRY(read_port(from.runner_port(), "part.runner_port", &to->runner_port));
  TRY(read_key(from.runner_key(), "part.runner_key", &to->runner_key));
  TRY(read_port(from.master_port(), "part.master_port", &to->master_port));
  TRY(read_instant(from.started_ns(), "part.started", &to->started));
  if (from.has_exit()) TRY(from_wire(from.exit(), &to->exit.emplace()));
  TRY(read_list(from.outputs(), kMaxCollectedOutputs, "part.outputs", &to->outputs));
  if (from.has_restored()) TRY(from_wire(from.restored(), &to->restored.emplace()));
  if (from.has_environment()) TRY(from_wire(from.environment(), &to->environment.emplace()));
  if (from.has_not_kept()) TRY(from_wire(from.not_kept(), &to->not_kept.emplace()));
  TRY(read_whys(from.notes(), from.notes_data(), kMaxNoteLines, "part.notes", &to->notes));
  if (from.has_clock()) TRY(from_wire(from.clock(), &to->clock.emplace()));
  TRY(read_list(from.ended(), kMaxRanksPerNode, "part.ended", &to->ended));
  if (from.has_probe()) TRY(from_wire(from.probe(), &to->probe.emplace()));
  TRY(read_list(from.settings(), kMaxNetworkSettings, "part.settings", &to->settings));
  TRY(read_list(from.other_settings(), kMaxSettingOverrides, "part.other_settings",
                &to->other_settings));
  TRY(read_found(from.found(), &to->found));
  to->gang_rows = from.gang_rows();
  return read_whys(from.limits(), from.limits_data(), kMaxLimitLines, "part.limits", &to->limits);
}

}  // namespace lockstep::pb
