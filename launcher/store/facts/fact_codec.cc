#include "launcher/store/facts/fact_codec.h"

#include <cmath>

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/views/views_codec.h"
#include "common/wire/why_codec.h"
#include "launcher/store/facts/asset_fact_codec.h"
#include "launcher/store/facts/compute_fact_codec.h"
#include "launcher/store/facts/job_fact_codec.h"
#include "launcher/store/facts/pipeline_fact_codec.h"
#include "launcher/store/facts/principal_codec.h"
#include "launcher/store/facts/size_fact_codec.h"
#include "proto/journal.pb.h"

// In pb, so that the list helpers of common/wire/fields.h find them by argument.
namespace lockstep::pb {

static void to_wire(const launcher::PartPlacement& from, PartPlacement* to) {
  to->set_node(from.node.value);
  to_wire(from.allotment, to->mutable_allotment());
  to->set_revision(from.revision);
  if (from.whole) to->set_whole(*from.whole);
}
static Status from_wire(const PartPlacement& from, launcher::PartPlacement* to) {
  to->node = NodeId(from.node());
  to->revision = from.revision();
  if (from.has_whole()) to->whole = from.whole();
  return from_wire(from.allotment(), &to->allotment);
}

namespace {

constexpr std::size_t kMaxFactBytes = 256u << 20;

struct FactWriter {
  Fact* wire;

  void operator()(const launcher::ProjectCreated& f) const {
    to_wire(f, wire->mutable_project_created());
  }
  void operator()(const launcher::ProjectRemoved& f) const {
    to_wire(f, wire->mutable_project_removed());
  }
  void operator()(const launcher::UserAdded& f) const { to_wire(f, wire->mutable_user_added()); }
  void operator()(const launcher::UserAccountSet& f) const {
    to_wire(f, wire->mutable_user_account_set());
  }
  void operator()(const launcher::UserRemoved& f) const {
    to_wire(f, wire->mutable_user_removed());
  }
  void operator()(const launcher::RoleGranted& f) const {
    to_wire(f, wire->mutable_role_granted());
  }
  void operator()(const launcher::RoleWithdrawn& f) const {
    to_wire(f, wire->mutable_role_withdrawn());
  }
  void operator()(const launcher::UserKeyAdded& f) const {
    to_wire(f, wire->mutable_user_key_added());
  }
  void operator()(const launcher::UserKeyRevoked& f) const {
    to_wire(f, wire->mutable_user_key_revoked());
  }
  void operator()(const launcher::ComputeCreated& f) const {
    to_wire(f, wire->mutable_compute_created());
  }
  void operator()(const launcher::ComputeUpdated& f) const {
    to_wire(f, wire->mutable_compute_updated());
  }
  void operator()(const launcher::ComputeDeleted& f) const {
    to_wire(f, wire->mutable_compute_deleted());
  }
  void operator()(const launcher::ComputeLeaving& f) const {
    to_wire(f, wire->mutable_compute_leaving());
  }
  void operator()(const launcher::InstanceStarted& f) const {
    to_wire(f, wire->mutable_instance_started());
  }
  void operator()(const launcher::InstanceStopped& f) const {
    to_wire(f, wire->mutable_instance_stopped());
  }
  void operator()(const launcher::MachineWanted& f) const {
    to_wire(f, wire->mutable_machine_wanted());
  }
  void operator()(const launcher::MachineFound& f) const {
    to_wire(f, wire->mutable_machine_found());
  }
  void operator()(const launcher::MachineCreated& f) const {
    to_wire(f, wire->mutable_machine_created());
  }
  void operator()(const launcher::MachineFailed& f) const {
    to_wire(f, wire->mutable_machine_failed());
  }
  void operator()(const launcher::MachineLeaving& f) const {
    to_wire(f, wire->mutable_machine_leaving());
  }
  void operator()(const launcher::MachineGone& f) const {
    to_wire(f, wire->mutable_machine_gone());
  }
  void operator()(const launcher::AssetRegistered& f) const {
    to_wire(f, wire->mutable_asset_registered());
  }
  void operator()(const launcher::AssetArchived& f) const {
    to_wire(f, wire->mutable_asset_archived());
  }
  void operator()(const launcher::OutputsMerged& f) const {
    to_wire(f, wire->mutable_outputs_merged());
  }
  void operator()(const launcher::OutputWritten& f) const {
    to_wire(f, wire->mutable_output_written());
  }
  void operator()(const launcher::OutputNotWritten& f) const {
    to_wire(f, wire->mutable_output_not_written());
  }
  void operator()(const launcher::StepReused& f) const { to_wire(f, wire->mutable_step_reused()); }
  void operator()(const launcher::StepSkipped& f) const {
    to_wire(f, wire->mutable_step_skipped());
  }
  void operator()(const launcher::SizeDefined& f) const {
    to_wire(f, wire->mutable_size_defined());
  }
  void operator()(const launcher::SizeRemoved& f) const {
    to_wire(f, wire->mutable_size_removed());
  }
  void operator()(const launcher::SizeGranted& f) const {
    to_wire(f, wire->mutable_size_granted());
  }
  void operator()(const launcher::NodeLabelsChanged& f) const {
    to_wire(f, wire->mutable_node_labels_changed());
  }
  void operator()(const launcher::NodeNoticed& f) const {
    to_wire(f, wire->mutable_node_noticed());
  }
  void operator()(const launcher::QuotaSet& f) const { to_wire(f, wire->mutable_quota_set()); }
  void operator()(const launcher::TokenCreated& f) const {
    auto* to = wire->mutable_token_created();
    to->set_secret_hash(std::string(f.secret_hash.view()));
    to->set_expires_ns(f.expires.ns);
    to->set_uses(f.uses);
    to->set_approval(describe(f.approval).number);
    to->set_pool(f.pool);
    to->set_machine(f.machine);
    to->set_by(f.by);
  }
  void operator()(const launcher::NodeJoined& f) const {
    auto* to = wire->mutable_node_joined();
    to->set_node(f.node.value);
    to->set_name(f.name);
    to->set_key(f.key.value);
    to->set_token(std::string(f.token.view()));
    to->set_waits_for_approval(f.waits_for_approval);
    to->set_pool(f.pool);
    to->set_machine(f.machine);
    to->set_machine_id(f.machine_id);
  }
  void operator()(const launcher::JobShared& f) const {
    auto* to = wire->mutable_job_shared();
    to->set_job(f.job.value);
    to->set_shared(f.shared);
    to->set_by(f.by);
  }
  void operator()(const launcher::JobArchived& f) const {
    to_wire(f, wire->mutable_job_archived());
  }
  void operator()(const launcher::JobAnnotated& f) const {
    to_wire(f, wire->mutable_job_annotated());
  }
  void operator()(const launcher::JobPriorityChanged& f) const {
    auto* to = wire->mutable_job_priority_changed();
    to->set_job(f.job.value);
    to->set_priority(wire_enum<Priority>(f.priority));
    to->set_by(f.by);
  }
  void operator()(const launcher::DependencyMet& f) const {
    wire->mutable_dependency_met()->set_job(f.job.value);
    wire->mutable_dependency_met()->set_after(f.after.value);
  }
  void operator()(const launcher::JobAtHead& f) const {
    wire->mutable_job_at_head()->set_job(f.job.value);
  }
  void operator()(const launcher::RecentUseSet& f) const {
    auto* to = wire->mutable_recent_use_set();
    to->set_pool(f.pool);
    to->set_user(f.user);
    to->set_cpus(f.recent.cpus);
    to->set_gpus(f.recent.gpus);
    to->set_memory(f.recent.memory);
    to->set_until_ns(f.until.ns);
  }
  void operator()(const launcher::NodeApproved& f) const {
    wire->mutable_node_approved()->set_node(f.node.value);
    wire->mutable_node_approved()->set_by(f.by);
  }
  void operator()(const launcher::NodeSessionStarted& f) const {
    auto* to = wire->mutable_node_session_started();
    to->set_node(f.node.value);
    to->set_boot(f.boot.value);
    to->set_session(f.session.value);
    to_wire(f.inventory, to->mutable_inventory());
    to->set_version(fitting_text(f.version));
    if (!f.claim) return;
    to->mutable_claim()->set_since_ns(f.claim->since.ns);
    to->mutable_claim()->set_group(f.claim->group.value);
  }
  void operator()(const launcher::NodeLost& f) const {
    wire->mutable_node_lost()->set_node(f.node.value);
    if (f.why) to_wire(f.why, wire->mutable_node_lost()->mutable_why_data());
  }
  void operator()(const launcher::NodeDrainChanged& f) const {
    auto* to = wire->mutable_node_drain_changed();
    to->set_node(f.node.value);
    to->set_draining(f.draining);
    to->set_reason(fitting_text(f.reason));
  }
  void operator()(const launcher::NodeRemoved& f) const {
    wire->mutable_node_removed()->set_node(f.node.value);
    wire->mutable_node_removed()->set_by(f.by);
    write_map(f.labels, wire->mutable_node_removed()->mutable_labels());
  }
  void operator()(const launcher::TokenForgotten& f) const {
    wire->mutable_token_forgotten()->set_secret_hash(std::string(f.secret_hash.view()));
  }
  void operator()(const launcher::NodeRevised& f) const {
    write_list(f.history, wire->mutable_node_revised()->mutable_history());
    wire->mutable_node_revised()->set_node(f.node.value);
    wire->mutable_node_revised()->set_revision(f.revision);
  }
  void operator()(const launcher::IncarnationBegan& f) const {
    wire->mutable_era_began()->set_era(f.incarnation);
    wire->mutable_era_began()->set_restored(f.restored);
  }
  void operator()(const launcher::JobDeleted& f) const {
    auto* to = wire->mutable_job_deleted();
    to->set_job(f.job.value);
    to->set_by(f.by);
    to->set_submission(f.submission);
    to->set_era(f.incarnation);
  }
  void operator()(const launcher::JobSubmitted& f) const {
    auto* to = wire->mutable_job_submitted();
    to->set_job(f.job.value);
    to->set_submission(f.submission);
    to_wire(f.spec, to->mutable_spec());
    to->set_order(f.order);
    to->set_era(f.incarnation);
    if (f.checkpoint) to_wire(*f.checkpoint, to->mutable_checkpoint());
    to->set_family(f.family);
    for (const launcher::JobSource& source : f.sources) {
      JobSource* one = to->add_sources();
      one->set_tree(std::string(source.tree.view()));
      one->set_size(source.size.count);
    }
  }
  void operator()(const launcher::CancelRequested& f) const {
    wire->mutable_cancel_requested()->set_job(f.job.value);
    if (f.by) to_wire(f.by, wire->mutable_cancel_requested()->mutable_why_data());
  }
  void operator()(const launcher::AttemptPlaced& f) const {
    auto* to = wire->mutable_attempt_placed();
    to_wire(f.attempt, to->mutable_attempt());
    write_list(f.parts, to->mutable_parts());
    write_list(f.why, to->mutable_why_data());
    if (f.checkpoint) to_wire(*f.checkpoint, to->mutable_checkpoint());
    write_texts(f.virtual_packages, to->mutable_virtual_packages());
  }
  void operator()(const launcher::GangFormed& f) const {
    to_wire(f.attempt, wire->mutable_gang_formed()->mutable_attempt());
    to_wire(f.gang, wire->mutable_gang_formed()->mutable_gang());
    if (f.rows) wire->mutable_gang_formed()->set_rows(std::string(f.rows->view()));
  }
  void operator()(const launcher::PartChanged& f) const {
    auto* to = wire->mutable_part_changed();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to_wire(f.report, to->mutable_report());
  }
  void operator()(const launcher::PartGone& f) const {
    auto* to = wire->mutable_part_gone();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to->set_cause(wire_enum<Cause>(f.cause));
    if (f.why) to_wire(f.why, to->mutable_why_data());
    to->set_fenced_until_ns(f.fenced_until.ns);
    to->set_revoked(f.revoked);
  }
  void operator()(const launcher::AttemptDoomed& f) const {
    auto* to = wire->mutable_attempt_doomed();
    to_wire(f.attempt, to->mutable_attempt());
    to_wire(f.report, to->mutable_report());
    to->set_reason(wire_enum<StopReason>(f.reason));
    if (f.grace) to->set_grace_ns(f.grace->count());
  }
  void operator()(const launcher::AttemptEnded& f) const {
    to_wire(f.attempt, wire->mutable_attempt_ended()->mutable_attempt());
    to_wire(f.report, wire->mutable_attempt_ended()->mutable_report());
  }
  void operator()(const launcher::JobRequeued& f) const {
    auto* to = wire->mutable_job_requeued();
    to->set_job(f.job.value);
    to_wire(f.after, to->mutable_after());
    to->set_charged(f.charged);
    if (f.why) to_wire(f.why, to->mutable_why_data());
    to->set_not_before_ns(f.not_before.ns);
  }
  void operator()(const launcher::CheckpointSaved& f) const {
    auto* to = wire->mutable_checkpoint_saved();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to_wire(f.checkpoint, to->mutable_checkpoint());
  }
  void operator()(const launcher::OutputsSoFar& f) const {
    auto* to = wire->mutable_outputs_so_far();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    write_list(f.outputs, to->mutable_outputs());
  }
  void operator()(const launcher::FoundChanged& f) const {
    auto* to = wire->mutable_found_changed();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    write_found(f.found, to->mutable_found());
  }
  void operator()(const launcher::EnvironmentRegistered& f) const {
    auto* to = wire->mutable_environment_registered();
    to_wire(f.environment, to->mutable_environment());
    to->set_by(f.by);
    to->set_project(f.project);
    to->set_owner(f.owner);
    to->set_foreign(f.foreign);
    if (f.files) to->set_files_bytes(f.files->count);
  }
  void operator()(const launcher::NameShared& f) const { to_wire(f, wire->mutable_name_shared()); }
  void operator()(const launcher::VersionsDeleted& f) const {
    to_wire(f, wire->mutable_versions_deleted());
  }
  void operator()(const launcher::NameSettled& f) const {
    to_wire(f, wire->mutable_name_settled());
  }
  void operator()(const launcher::EnvironmentArchived& f) const {
    to_wire(f, wire->mutable_environment_archived());
  }
  void operator()(const launcher::VersionAnnotated& f) const {
    to_wire(f, wire->mutable_version_annotated());
  }
  void operator()(const launcher::EnvironmentWanted& f) const {
    auto* to = wire->mutable_environment_wanted();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to->set_platform(f.platform);
  }
  void operator()(const launcher::EnvironmentNotSolved& f) const {
    auto* to = wire->mutable_environment_not_solved();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to->set_generation(f.generation);
    to->set_platform(f.platform);
    write_why(f.why, to->mutable_why(), [&] { return to->mutable_why_data(); });
  }
  void operator()(const launcher::EnvironmentLocked& f) const {
    auto* to = wire->mutable_environment_locked();
    to->set_definition(std::string(f.definition.view()));
    to->set_generation(f.generation);
    to_wire(f.lock, to->mutable_lock());
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    if (f.account) to->set_account(*f.account);
    if (f.family) to->set_family(*f.family);
  }
  void operator()(const launcher::EnvironmentReset& f) const {
    auto* to = wire->mutable_environment_reset();
    to->set_definition(std::string(f.definition.view()));
    to->set_generation(f.generation);
    to->set_by(f.by);
    if (f.account) to->set_account(*f.account);
    to->set_family(f.family);
  }
  void operator()(const launcher::EnvironmentsPruned& f) const {
    wire->mutable_environments_pruned()->set_unused_since_ns(f.unused_since.ns);
    wire->mutable_environments_pruned()->set_by(f.by);
  }
  void operator()(const launcher::FenceLifted& f) const {
    auto* to = wire->mutable_fence_lifted();
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    if (f.why) to_wire(f.why, to->mutable_why_data());
  }
  void operator()(const launcher::PartReleased& f) const {
    to_wire(f.attempt, wire->mutable_part_released()->mutable_attempt());
    wire->mutable_part_released()->set_node(f.node.value);
    wire->mutable_part_released()->set_logs_lost(f.logs_lost);
    wire->mutable_part_released()->set_lost_bytes(f.lost_bytes);
  }
  void operator()(const launcher::JobFinished& f) const {
    auto* to = wire->mutable_job_finished();
    to->set_job(f.job.value);
    to->set_status(wire_enum<JobStatus>(f.status));
    to_wire(f.report, to->mutable_report());
  }
};

// The text of an earlier version is in its reason.
Status read_report(const ExitReport& from, lockstep::ExitReport* to) {
  TRY(from_wire(from, to));
  if (!from.has_why_data()) to->message.clear();
  for (int i = 0; i < from.also_size(); ++i)
    if (!from.also(i).has_why_data()) to->also[static_cast<std::size_t>(i)].message.clear();
  return {};
}

Status from_wire(const TokenCreated& from, launcher::TokenCreated* to) {
  TRY(read_digest(from.secret_hash(), "token.secret_hash", &to->secret_hash));
  TRY(read_instant(from.expires_ns(), "token.expires", &to->expires));
  TRY(read_word(from.approval(), "token.approval", &to->approval));
  TRY(read_text(from.pool(), "token.pool", &to->pool));
  TRY(read_text(from.machine(), "token.machine", &to->machine));
  TRY(read_text(from.by(), "token.by", &to->by));
  return read_number(from.uses(), INT32_MIN, INT32_MAX, "token.uses", &to->uses);
}
Status from_wire(const NodeJoined& from, launcher::NodeJoined* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.name(), "node.name", &to->name));
  TRY(read_key(from.key(), "node.key", &to->key));
  to->waits_for_approval = from.waits_for_approval();
  TRY(read_text(from.pool(), "node.pool", &to->pool));
  TRY(read_text(from.machine(), "node.machine", &to->machine));
  TRY(read_text(from.machine_id(), "node.machine_id", &to->machine_id));
  return read_digest(from.token(), "node.token", &to->token);
}
Status from_wire(const JobShared& from, launcher::JobShared* to) {
  TRY(read_job(from.job(), "job", &to->job));
  to->shared = from.shared();
  return read_text(from.by(), "shared.by", &to->by);
}
Status from_wire(const JobPriorityChanged& from, launcher::JobPriorityChanged* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(read_word(from.priority(), "priority", &to->priority));
  return read_text(from.by(), "priority.by", &to->by);
}
Status from_wire(const DependencyMet& from, launcher::DependencyMet* to) {
  TRY(read_job(from.job(), "job", &to->job));
  return read_job(from.after(), "after", &to->after);
}
Status from_wire(const JobAtHead& from, launcher::JobAtHead* to) {
  return read_job(from.job(), "job", &to->job);
}
Status from_wire(const RecentUseSet& from, launcher::RecentUseSet* to) {
  TRY(read_text(from.pool(), "use.pool", &to->pool));
  TRY(read_text(from.user(), "use.user", &to->user));
  to->recent = {from.cpus(), from.gpus(), from.memory()};
  for (const double amount : {from.cpus(), from.gpus(), from.memory()})
    if (!std::isfinite(amount)) return bad_field("use", "is no number");
  return read_instant(from.until_ns(), "use.until", &to->until);
}
Status from_wire(const NodeApproved& from, launcher::NodeApproved* to) {
  to->node = NodeId(from.node());
  return read_text(from.by(), "approved.by", &to->by);
}
Status from_wire(const NodeSessionStarted& from, launcher::NodeSessionStarted* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.boot(), "session.boot", &to->boot.value));
  to->session = SessionId(from.session());
  if (from.has_claim()) {
    launcher::HostClaim& claim = to->claim.emplace();
    TRY(read_instant(from.claim().since_ns(), "session.claim.since", &claim.since));
    claim.group = NodeId(from.claim().group());
  }
  TRY(read_text(from.version(), "session.version", &to->version));
  return from_wire(from.inventory(), &to->inventory);
}
Status from_wire(const NodeLost& from, launcher::NodeLost* to) {
  to->node = NodeId(from.node());
  return read_why(from.reason(), from.has_why_data(), from.why_data(), "lost.reason", &to->why);
}
Status from_wire(const NodeDrainChanged& from, launcher::NodeDrainChanged* to) {
  to->node = NodeId(from.node());
  to->draining = from.draining();
  return read_text(from.reason(), "drain.reason", &to->reason);
}
Status from_wire(const NodeRemoved& from, launcher::NodeRemoved* to) {
  to->node = NodeId(from.node());
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "removed.labels", &to->labels));
  return read_text(from.by(), "removed.by", &to->by);
}
Status from_wire(const TokenForgotten& from, launcher::TokenForgotten* to) {
  return read_digest(from.secret_hash(), "token.secret_hash", &to->secret_hash);
}
Status from_wire(const NodeRevised& from, launcher::NodeRevised* to) {
  TRY(read_list(from.history(), kMaxNodeEvents, "node.history", &to->history));
  for (int i = 0; i < from.history_size(); ++i)
    if (!from.history(i).has_why_data()) to->history[static_cast<std::size_t>(i)].message.clear();
  to->node = NodeId(from.node());
  to->revision = from.revision();
  return {};
}
Status from_wire(const EraBegan& from, launcher::IncarnationBegan* to) {
  to->incarnation = from.era();
  to->restored = from.restored();
  return {};
}
Status from_wire(const JobDeleted& from, launcher::JobDeleted* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(read_text(from.by(), "deleted.by", &to->by));
  to->incarnation = from.era();
  return read_text(from.submission(), "deleted.submission", &to->submission);
}
Status from_wire(const JobSubmitted& from, launcher::JobSubmitted* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(read_text(from.submission(), "submission", &to->submission));
  to->order = from.order();
  to->incarnation = from.era();
  to->family = from.family();
  if (from.has_checkpoint()) TRY(from_wire(from.checkpoint(), &to->checkpoint.emplace()));
  for (const JobSource& source : from.sources()) {
    launcher::JobSource& one = to->sources.emplace_back();
    TRY(read_digest(source.tree(), "job.sources", &one.tree));
    one.size.count = source.size();
  }
  return from_wire(from.spec(), &to->spec);
}
Status from_wire(const CancelRequested& from, launcher::CancelRequested* to) {
  TRY(read_job(from.job(), "job", &to->job));
  return read_why(from.by(), from.has_why_data(), from.why_data(), "cancel.by", &to->by);
}
Status from_wire(const AttemptPlaced& from, launcher::AttemptPlaced* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_list(from.parts(), kMaxNodesPerJob, "placed.parts", &to->parts));
  TRY(read_whys(from.why(), from.why_data(), 1'000'000, "placed.why", &to->why));
  if (from.has_checkpoint()) TRY(from_wire(from.checkpoint(), &to->checkpoint.emplace()));
  return read_texts(from.virtual_packages(), kMaxVirtualPackages, "placed.virtual_packages",
                    &to->virtual_packages);
}
Status from_wire(const GangFormed& from, launcher::GangFormed* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_optional_digest(from.rows(), "formed.rows", &to->rows));
  return from_wire(from.gang(), &to->gang);
}
Status from_wire(const PartChanged& from, launcher::PartChanged* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return from_wire(from.report(), &to->report);
}
Status from_wire(const PartGone& from, launcher::PartGone* to) {
  to->revoked = from.revoked();
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  TRY(read_word(from.cause(), "gone.cause", &to->cause));
  TRY(read_instant(from.fenced_until_ns(), "gone.fenced_until", &to->fenced_until));
  return read_why(from.why(), from.has_why_data(), from.why_data(), "gone.why", &to->why);
}
Status from_wire(const AttemptDoomed& from, launcher::AttemptDoomed* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_report(from.report(), &to->report));
  if (from.has_grace_ns())
    TRY(read_duration(from.grace_ns(), "doomed.grace", &to->grace.emplace()));
  return read_word(from.reason(), "doomed.reason", &to->reason);
}
Status from_wire(const AttemptEnded& from, launcher::AttemptEnded* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  return read_report(from.report(), &to->report);
}
Status from_wire(const JobRequeued& from, launcher::JobRequeued* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(from_wire(from.after(), &to->after));
  to->charged = from.charged();
  TRY(read_instant(from.not_before_ns(), "requeued.not_before", &to->not_before));
  return read_why(from.why(), from.has_why_data(), from.why_data(), "requeued.why", &to->why);
}
Status from_wire(const CheckpointSaved& from, launcher::CheckpointSaved* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return from_wire(from.checkpoint(), &to->checkpoint);
}
Status from_wire(const OutputsSoFar& from, launcher::OutputsSoFar* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return read_list(from.outputs(), kMaxCollectedOutputs, "so_far.outputs", &to->outputs);
}
Status from_wire(const FoundChanged& from, launcher::FoundChanged* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return read_found(from.found(), &to->found);
}
Status from_wire(const EnvironmentRegistered& from, launcher::EnvironmentRegistered* to) {
  TRY(from_wire(from.environment(), &to->environment));
  TRY(read_text(from.project(), "registered.project", &to->project));
  TRY(read_text(from.owner(), "registered.owner", &to->owner));
  to->foreign = from.foreign();
  if (from.has_files_bytes()) to->files = launcher::counted_files(Bytes{from.files_bytes()});
  return read_text(from.by(), "registered.by", &to->by);
}
Status from_wire(const EnvironmentWanted& from, launcher::EnvironmentWanted* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return read_text(from.platform(), "wanted.platform", &to->platform);
}
Status from_wire(const EnvironmentNotSolved& from, launcher::EnvironmentNotSolved* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  to->generation = from.generation();
  TRY(read_text(from.platform(), "not_solved.platform", &to->platform));
  return read_why(from.why(), from.has_why_data(), from.why_data(), "not_solved.why", &to->why);
}
Status from_wire(const EnvironmentLocked& from, launcher::EnvironmentLocked* to) {
  TRY(read_digest(from.definition(), "locked.definition", &to->definition));
  to->generation = from.generation();
  TRY(from_wire(from.lock(), &to->lock));
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  if (from.has_account()) TRY(read_text(from.account(), "locked.account", &to->account.emplace()));
  if (from.has_family()) to->family = from.family();
  return {};
}
Status from_wire(const EnvironmentReset& from, launcher::EnvironmentReset* to) {
  TRY(read_digest(from.definition(), "reset.definition", &to->definition));
  to->generation = from.generation();
  to->family = from.family();
  if (from.has_account()) TRY(read_text(from.account(), "reset.account", &to->account.emplace()));
  return read_text(from.by(), "reset.by", &to->by);
}
Status from_wire(const EnvironmentsPruned& from, launcher::EnvironmentsPruned* to) {
  TRY(read_instant(from.unused_since_ns(), "pruned.unused_since", &to->unused_since));
  return read_text(from.by(), "pruned.by", &to->by);
}
Status from_wire(const FenceLifted& from, launcher::FenceLifted* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  return read_why(from.why(), from.has_why_data(), from.why_data(), "lifted.why", &to->why);
}
Status from_wire(const PartReleased& from, launcher::PartReleased* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  to->logs_lost = from.logs_lost();
  to->lost_bytes = from.lost_bytes();
  to->node = NodeId(from.node());
  return {};
}
Status from_wire(const JobFinished& from, launcher::JobFinished* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(read_word(from.status(), "finished.status", &to->status));
  return read_report(from.report(), &to->report);
}

template <typename Domain, typename Wire>
Status read_into(const Wire& from, launcher::Fact* to) {
  return from_wire(from, &to->emplace<Domain>());
}

Status read_fact(const Fact& from, launcher::Fact* to) {
  switch (from.body_case()) {
    case Fact::kTokenCreated: return read_into<launcher::TokenCreated>(from.token_created(), to);
    case Fact::kNodeJoined: return read_into<launcher::NodeJoined>(from.node_joined(), to);
    case Fact::kJobShared: return read_into<launcher::JobShared>(from.job_shared(), to);
    case Fact::kJobArchived: return read_into<launcher::JobArchived>(from.job_archived(), to);
    case Fact::kJobAnnotated: return read_into<launcher::JobAnnotated>(from.job_annotated(), to);
    case Fact::kJobPriorityChanged:
      return read_into<launcher::JobPriorityChanged>(from.job_priority_changed(), to);
    case Fact::kDependencyMet: return read_into<launcher::DependencyMet>(from.dependency_met(), to);
    case Fact::kJobAtHead: return read_into<launcher::JobAtHead>(from.job_at_head(), to);
    case Fact::kRecentUseSet: return read_into<launcher::RecentUseSet>(from.recent_use_set(), to);
    case Fact::kNodeApproved: return read_into<launcher::NodeApproved>(from.node_approved(), to);
    case Fact::kNodeSessionStarted:
      return read_into<launcher::NodeSessionStarted>(from.node_session_started(), to);
    case Fact::kNodeLost: return read_into<launcher::NodeLost>(from.node_lost(), to);
    case Fact::kNodeDrainChanged:
      return read_into<launcher::NodeDrainChanged>(from.node_drain_changed(), to);
    case Fact::kNodeRemoved: return read_into<launcher::NodeRemoved>(from.node_removed(), to);
    case Fact::kTokenForgotten:
      return read_into<launcher::TokenForgotten>(from.token_forgotten(), to);
    case Fact::kNodeRevised: return read_into<launcher::NodeRevised>(from.node_revised(), to);
    case Fact::kEraBegan: return read_into<launcher::IncarnationBegan>(from.era_began(), to);
    case Fact::kJobDeleted: return read_into<launcher::JobDeleted>(from.job_deleted(), to);
    case Fact::kJobSubmitted: return read_into<launcher::JobSubmitted>(from.job_submitted(), to);
    case Fact::kCancelRequested:
      return read_into<launcher::CancelRequested>(from.cancel_requested(), to);
    case Fact::kAttemptPlaced: return read_into<launcher::AttemptPlaced>(from.attempt_placed(), to);
    case Fact::kGangFormed: return read_into<launcher::GangFormed>(from.gang_formed(), to);
    case Fact::kPartChanged: return read_into<launcher::PartChanged>(from.part_changed(), to);
    case Fact::kPartGone: return read_into<launcher::PartGone>(from.part_gone(), to);
    case Fact::kAttemptDoomed: return read_into<launcher::AttemptDoomed>(from.attempt_doomed(), to);
    case Fact::kAttemptEnded: return read_into<launcher::AttemptEnded>(from.attempt_ended(), to);
    case Fact::kJobRequeued: return read_into<launcher::JobRequeued>(from.job_requeued(), to);
    case Fact::kPartReleased: return read_into<launcher::PartReleased>(from.part_released(), to);
    case Fact::kJobFinished: return read_into<launcher::JobFinished>(from.job_finished(), to);
    case Fact::kCheckpointSaved:
      return read_into<launcher::CheckpointSaved>(from.checkpoint_saved(), to);
    case Fact::kFoundChanged: return read_into<launcher::FoundChanged>(from.found_changed(), to);
    case Fact::kOutputsSoFar: return read_into<launcher::OutputsSoFar>(from.outputs_so_far(), to);
    case Fact::kEnvironmentRegistered:
      return read_into<launcher::EnvironmentRegistered>(from.environment_registered(), to);
    case Fact::kEnvironmentWanted:
      return read_into<launcher::EnvironmentWanted>(from.environment_wanted(), to);
    case Fact::kEnvironmentNotSolved:
      return read_into<launcher::EnvironmentNotSolved>(from.environment_not_solved(), to);
    case Fact::kEnvironmentLocked:
      return read_into<launcher::EnvironmentLocked>(from.environment_locked(), to);
    case Fact::kEnvironmentReset:
      return read_into<launcher::EnvironmentReset>(from.environment_reset(), to);
    case Fact::kEnvironmentsPruned:
      return read_into<launcher::EnvironmentsPruned>(from.environments_pruned(), to);
    case Fact::kFenceLifted: return read_into<launcher::FenceLifted>(from.fence_lifted(), to);
    case Fact::kProjectCreated:
      return read_into<launcher::ProjectCreated>(from.project_created(), to);
    case Fact::kProjectRemoved:
      return read_into<launcher::ProjectRemoved>(from.project_removed(), to);
    case Fact::kUserAdded: return read_into<launcher::UserAdded>(from.user_added(), to);
    case Fact::kUserAccountSet:
      return read_into<launcher::UserAccountSet>(from.user_account_set(), to);
    case Fact::kUserRemoved: return read_into<launcher::UserRemoved>(from.user_removed(), to);
    case Fact::kRoleGranted: return read_into<launcher::RoleGranted>(from.role_granted(), to);
    case Fact::kRoleWithdrawn: return read_into<launcher::RoleWithdrawn>(from.role_withdrawn(), to);
    case Fact::kUserKeyAdded: return read_into<launcher::UserKeyAdded>(from.user_key_added(), to);
    case Fact::kUserKeyRevoked:
      return read_into<launcher::UserKeyRevoked>(from.user_key_revoked(), to);
    case Fact::kComputeCreated:
      return read_into<launcher::ComputeCreated>(from.compute_created(), to);
    case Fact::kComputeUpdated:
      return read_into<launcher::ComputeUpdated>(from.compute_updated(), to);
    case Fact::kComputeDeleted:
      return read_into<launcher::ComputeDeleted>(from.compute_deleted(), to);
    case Fact::kComputeLeaving:
      return read_into<launcher::ComputeLeaving>(from.compute_leaving(), to);
    case Fact::kInstanceStarted:
      return read_into<launcher::InstanceStarted>(from.instance_started(), to);
    case Fact::kInstanceStopped:
      return read_into<launcher::InstanceStopped>(from.instance_stopped(), to);
    case Fact::kMachineWanted: return read_into<launcher::MachineWanted>(from.machine_wanted(), to);
    case Fact::kMachineFound: return read_into<launcher::MachineFound>(from.machine_found(), to);
    case Fact::kMachineCreated:
      return read_into<launcher::MachineCreated>(from.machine_created(), to);
    case Fact::kMachineFailed: return read_into<launcher::MachineFailed>(from.machine_failed(), to);
    case Fact::kMachineLeaving:
      return read_into<launcher::MachineLeaving>(from.machine_leaving(), to);
    case Fact::kMachineGone: return read_into<launcher::MachineGone>(from.machine_gone(), to);
    case Fact::kAssetRegistered:
      return read_into<launcher::AssetRegistered>(from.asset_registered(), to);
    case Fact::kAssetArchived: return read_into<launcher::AssetArchived>(from.asset_archived(), to);
    case Fact::kNameShared: return read_into<launcher::NameShared>(from.name_shared(), to);
    case Fact::kVersionsDeleted:
      return read_into<launcher::VersionsDeleted>(from.versions_deleted(), to);
    case Fact::kNameSettled: return read_into<launcher::NameSettled>(from.name_settled(), to);
    case Fact::kEnvironmentArchived:
      return read_into<launcher::EnvironmentArchived>(from.environment_archived(), to);
    case Fact::kVersionAnnotated:
      return read_into<launcher::VersionAnnotated>(from.version_annotated(), to);
    case Fact::kOutputsMerged: return read_into<launcher::OutputsMerged>(from.outputs_merged(), to);
    case Fact::kOutputWritten: return read_into<launcher::OutputWritten>(from.output_written(), to);
    case Fact::kOutputNotWritten:
      return read_into<launcher::OutputNotWritten>(from.output_not_written(), to);
    case Fact::kStepReused: return read_into<launcher::StepReused>(from.step_reused(), to);
    case Fact::kStepSkipped: return read_into<launcher::StepSkipped>(from.step_skipped(), to);
    case Fact::kSizeDefined: return read_into<launcher::SizeDefined>(from.size_defined(), to);
    case Fact::kSizeRemoved: return read_into<launcher::SizeRemoved>(from.size_removed(), to);
    case Fact::kSizeGranted: return read_into<launcher::SizeGranted>(from.size_granted(), to);
    case Fact::kNodeLabelsChanged:
      return read_into<launcher::NodeLabelsChanged>(from.node_labels_changed(), to);
    case Fact::kNodeNoticed: return read_into<launcher::NodeNoticed>(from.node_noticed(), to);
    case Fact::kQuotaSet: return read_into<launcher::QuotaSet>(from.quota_set(), to);
    case Fact::BODY_NOT_SET: break;
  }
  return bad_field("body", "is missing or of a kind that this version does not know");
}

}  // namespace

}  // namespace lockstep::pb

namespace lockstep::launcher {

std::string encode_fact(const Fact& fact) {
  pb::Fact wire;
  std::visit(pb::FactWriter{&wire}, fact);
  return pb::serialize(wire);
}

Result<Fact> decode_fact(std::string_view payload) {
  pb::Fact wire;
  TRY(pb::parse(payload, pb::kMaxFactBytes, "journal row", &wire));
  Fact fact;
  TRY(pb::read_fact(wire, &fact));
  return fact;
}

}  // namespace lockstep::launcher
