#include "common/wire/views/views_codec.h"

#include "common/domain/job/pipeline.h"
#include "common/domain/why/all/old_texts.h"
#include "common/grammar/job_name.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxAttempts = 1'000'000;
constexpr std::size_t kMaxKinds = 100;

static_assert(is_wire_of(lockstep::JobStatus::queued, JOB_STATUS_QUEUED));
static_assert(is_wire_of(lockstep::JobStatus::preparing, JOB_STATUS_PREPARING));
static_assert(is_wire_of(lockstep::JobStatus::starting, JOB_STATUS_STARTING));
static_assert(is_wire_of(lockstep::JobStatus::running, JOB_STATUS_RUNNING));
static_assert(is_wire_of(lockstep::JobStatus::finalizing, JOB_STATUS_FINALIZING));
static_assert(is_wire_of(lockstep::JobStatus::cancel_requested, JOB_STATUS_CANCEL_REQUESTED));
static_assert(is_wire_of(lockstep::JobStatus::completed, JOB_STATUS_COMPLETED));
static_assert(is_wire_of(lockstep::JobStatus::failed, JOB_STATUS_FAILED));
static_assert(is_wire_of(lockstep::JobStatus::canceled, JOB_STATUS_CANCELED));
static_assert(is_wire_of(lockstep::OutputWrite::State::waiting, OUTPUT_WRITE_STATE_WAITING));
static_assert(is_wire_of(lockstep::OutputWrite::State::written, OUTPUT_WRITE_STATE_WRITTEN));
static_assert(is_wire_of(lockstep::OutputWrite::State::given_up, OUTPUT_WRITE_STATE_GIVEN_UP));
static_assert(is_wire_of(lockstep::Liveness::alive, LIVENESS_ALIVE));
static_assert(is_wire_of(lockstep::Liveness::unknown, LIVENESS_UNKNOWN));
static_assert(is_wire_of(lockstep::Liveness::lost, LIVENESS_LOST));

using Counts = google::protobuf::RepeatedPtrField<NamedCount>;

void write_counts(const std::map<std::string, int>& from, Counts* to) {
  for (const auto& [name, count] : from) {
    auto* entry = to->Add();
    entry->set_name(name);
    entry->set_count(count);
  }
}

Status read_counts(const Counts& from, const char* field, std::map<std::string, int>* to) {
  TRY(check_count(from.size(), kMaxKinds, field));
  for (const auto& entry : from) (*to)[entry.name()] = entry.count();
  return {};
}

}  // namespace

void to_wire(const lockstep::PartView& from, PartView* to) {
  to->set_node(from.node.value);
  to->set_node_name(from.node_name);
  to->set_node_rank(from.node_rank);
  to->set_first_rank(from.first_rank);
  to->set_ranks(from.ranks);
  to->set_state(static_cast<PartState>(describe(from.state).number));
  to->set_progress(fitting_text(from.progress));
  to_wire(from.allotment, to->mutable_allotment());
  write_list(from.outputs, to->mutable_outputs());
  write_texts(from.limits, to->mutable_limits());
  write_texts(from.notes, to->mutable_notes());
  write_list(from.limits_why, to->mutable_limits_data());
  write_list(from.notes_why, to->mutable_notes_data());
  if (from.environment) to_wire(*from.environment, to->mutable_environment());
  if (from.not_kept) to_wire(*from.not_kept, to->mutable_not_kept());
  if (from.use) to_wire(*from.use, to->mutable_use());
  write_list(from.used, to->mutable_used());
  write_list(from.ended, to->mutable_ended());
  write_texts(from.addresses, to->mutable_addresses());
  if (from.lost_logs) to->set_lost_log_bytes(from.lost_logs->count);
  write_list(from.settings, to->mutable_settings());
  if (from.why) to_wire(from.why, to->mutable_why_data());
}

Status from_wire(const PartView& from, lockstep::PartView* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.node_name(), "part.node_name", &to->node_name));
  TRY(read_rank(from.node_rank(), "part.node_rank", &to->node_rank));
  TRY(read_rank(from.first_rank(), "part.first_rank", &to->first_rank));
  TRY(read_rank(from.ranks(), "part.ranks", &to->ranks));
  TRY(read_word(from.state(), "part.state", &to->state));
  TRY(read_text(from.progress(), "part.progress", &to->progress));
  TRY(read_texts(from.limits(), kMaxLimitLines, "part.limits", &to->limits));
  TRY(read_texts(from.notes(), kMaxNoteLines, "part.notes", &to->notes));
  TRY(read_whys(from.limits(), from.limits_data(), kMaxLimitLines, "part.limits", &to->limits_why));
  TRY(read_whys(from.notes(), from.notes_data(), kMaxNoteLines, "part.notes", &to->notes_why));
  TRY(from_wire(from.allotment(), &to->allotment));
  if (from.has_environment()) TRY(from_wire(from.environment(), &to->environment.emplace()));
  if (from.has_not_kept()) TRY(from_wire(from.not_kept(), &to->not_kept.emplace()));
  if (from.has_use()) TRY(from_wire(from.use(), &to->use.emplace()));
  TRY(read_list(from.used(), kMaxRanksOfUse, "part.used", &to->used));
  TRY(read_list(from.ended(), kMaxRanksPerNode, "part.ended", &to->ended));
  TRY(read_texts(from.addresses(), kMaxPartAddresses, "part.addresses", &to->addresses));
  if (from.has_lost_log_bytes()) to->lost_logs = Bytes{from.lost_log_bytes()};
  TRY(read_list(from.settings(), kMaxNetworkSettings, "part.settings", &to->settings));
  if (from.has_why_data()) TRY(from_wire(from.why_data(), &to->why));
  return read_list(from.outputs(), kMaxCollectedOutputs, "part.outputs", &to->outputs);
}

void to_wire(const lockstep::CheckpointView& from, CheckpointView* to) {
  to->set_attempt(from.attempt);
  to->set_saved_ns(from.saved.ns);
  if (from.tree) to->set_tree(std::string(from.tree->view()));
  to->set_files(from.files);
  to->set_size_bytes(from.size.count);
  to->set_job(from.job.value);
}

Status from_wire(const CheckpointView& from, lockstep::CheckpointView* to) {
  to->attempt = from.attempt();
  TRY(read_instant(from.saved_ns(), "checkpoint.saved", &to->saved));
  if (from.has_tree()) TRY(read_digest(from.tree(), "checkpoint.tree", &to->tree.emplace()));
  to->files = from.files();
  to->size = Bytes{from.size_bytes()};
  return read_text(from.job(), "checkpoint.job", &to->job.value, kMaxJobNameBytes);
}

void to_wire(const lockstep::AttemptView& from, AttemptView* to) {
  to->set_number(from.number);
  to->set_placed_ns(from.placed.ns);
  to->set_started_ns(from.started.ns);
  to->set_ended_ns(from.ended.ns);
  write_list(from.parts, to->mutable_parts());
  if (from.report) to_wire(*from.report, to->mutable_report());
  to->set_retried(fitting_text(from.retried));
  if (from.why) to_wire(from.why, to->mutable_why_data());
  if (from.checkpoint) to_wire(*from.checkpoint, to->mutable_checkpoint());
  write_found(from.found, to->mutable_found());
  if (from.probe) to_wire(*from.probe, to->mutable_probe());
}

Status from_wire(const AttemptView& from, lockstep::AttemptView* to) {
  to->number = from.number();
  TRY(read_instant(from.placed_ns(), "attempt.placed", &to->placed));
  TRY(read_instant(from.started_ns(), "attempt.started", &to->started));
  TRY(read_instant(from.ended_ns(), "attempt.ended", &to->ended));
  TRY(read_list(from.parts(), kMaxNodesPerJob, "attempt.parts", &to->parts));
  if (from.has_report()) TRY(from_wire(from.report(), &to->report.emplace()));
  TRY(read_text(from.retried(), "attempt.retried", &to->retried));
  if (from.has_why_data())
    TRY(from_wire(from.why_data(), &to->why));
  else
    to->why = retry_of_old(to->retried, to->report ? to->report->why : lockstep::Why());
  if (from.has_checkpoint()) TRY(from_wire(from.checkpoint(), &to->checkpoint.emplace()));
  TRY(read_found(from.found(), &to->found));
  if (from.has_probe()) TRY(from_wire(from.probe(), &to->probe.emplace()));
  return {};
}

namespace {

// A launcher of an earlier version sends the text alone.
template <typename View>
Status read_why(const View& from, const std::string& reason, lockstep::Why* to) {
  if (from.has_why()) return from_wire(from.why(), to);
  *to = told(reason);
  return {};
}

}  // namespace

void to_wire(const lockstep::StepView& from, StepView* to) {
  to->set_name(from.name);
  to->set_phase(wire_enum<StepPhase>(from.phase));
  to->set_job(from.job.value);
  if (from.status) to->set_status(wire_enum<JobStatus>(*from.status));
  to->set_reason(fitting_text(from.reason));
  to->set_compute(from.compute);
  to->set_started_ns(from.started.ns);
  to->set_ended_ns(from.ended.ns);
  for (const std::string& step : from.after) to->add_after(step);
  to->set_in_vain(from.in_vain);
  if (from.why) to_wire(from.why, to->mutable_why());
}

Status from_wire(const StepView& from, lockstep::StepView* to) {
  TRY(read_text(from.name(), "step.name", &to->name));
  TRY(read_enum(from.phase(), lockstep::StepPhase::skipped, "step.phase", &to->phase));
  TRY(read_text(from.job(), "step.job", &to->job.value));
  if (from.status() != JOB_STATUS_UNSPECIFIED)
    TRY(read_word(from.status(), "step.status", &to->status.emplace()));
  TRY(read_text(from.reason(), "step.reason", &to->reason));
  TRY(read_text(from.compute(), "step.compute", &to->compute));
  TRY(read_instant(from.started_ns(), "step.started", &to->started));
  TRY(read_instant(from.ended_ns(), "step.ended", &to->ended));
  TRY(check_count(from.after_size(), kMaxPipelineSteps, "step.after"));
  for (const std::string& step : from.after())
    TRY(read_text(step, "step.after", &to->after.emplace_back()));
  to->in_vain = from.in_vain();
  TRY(read_why(from, to->reason, &to->why));
  return {};
}

void to_wire(const lockstep::OutputWrite& from, OutputWrite* to) {
  to->set_output(from.output);
  to->set_to(from.to);
  to->set_state(wire_enum<OutputWriteState>(from.state));
  to->set_tries(from.tries);
  to->set_why(fitting_text(from.why));
  to->set_at_ns(from.at.ns);
  if (from.why_data) to_wire(from.why_data, to->mutable_why_data());
}

Status from_wire(const OutputWrite& from, lockstep::OutputWrite* to) {
  TRY(read_text(from.output(), "write.output", &to->output));
  TRY(read_text(from.to(), "write.to", &to->to));
  TRY(read_enum(from.state(), lockstep::OutputWrite::State::given_up, "write.state", &to->state));
  to->tries = from.tries();
  TRY(read_text(from.why(), "write.why", &to->why));
  TRY(from_wire(from.why_data(), &to->why_data));
  return read_instant(from.at_ns(), "write.at", &to->at);
}

void to_wire(const lockstep::JobView& from, JobView* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_status(wire_enum<JobStatus>(from.status));
  to->set_reason(fitting_text(from.reason));
  to->set_queue_position(from.queue_position);
  to->set_submitted_ns(from.submitted.ns);
  to->set_ended_ns(from.ended.ns);
  write_list(from.attempts, to->mutable_attempts());
  if (from.report) to_wire(*from.report, to->mutable_report());
  to->set_retry_at_ns(from.retry_at.ns);
  to->set_shared(from.shared);
  to->set_silent_ns(from.silent.count());
  write_list(from.steps, to->mutable_steps());
  write_list(from.merged, to->mutable_merged());
  write_list(from.writes, to->mutable_writes());
  to->set_children(from.children);
  to->set_open_children(from.open_children);
  to->set_archived(from.archived);
  to->set_in_vain(from.in_vain);
  if (from.why) to_wire(from.why, to->mutable_why());
}

Status from_wire(const JobView& from, lockstep::JobView* to) {
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_word(from.status(), "job.status", &to->status));
  TRY(read_text(from.reason(), "job.reason", &to->reason));
  TRY(read_number(from.queue_position(), 0, INT32_MAX, "job.queue_position", &to->queue_position));
  TRY(read_instant(from.submitted_ns(), "job.submitted", &to->submitted));
  TRY(read_instant(from.ended_ns(), "job.ended", &to->ended));
  TRY(read_list(from.attempts(), kMaxAttempts, "job.attempts", &to->attempts));
  if (from.has_report()) TRY(from_wire(from.report(), &to->report.emplace()));
  to->shared = from.shared();
  to->archived = from.archived();
  to->in_vain = from.in_vain();
  TRY(read_why(from, to->reason, &to->why));
  TRY(read_list(from.steps(), kMaxPipelineSteps, "job.steps", &to->steps));
  TRY(read_list(from.merged(), kMaxOutputs, "job.merged", &to->merged));
  TRY(read_list(from.writes(), kMaxOutputs, "job.writes", &to->writes));
  TRY(read_number(from.children(), 0, INT32_MAX, "job.children", &to->children));
  TRY(read_number(from.open_children(), 0, INT32_MAX, "job.open_children", &to->open_children));
  TRY(read_duration(from.silent_ns(), "job.silent", &to->silent));
  return read_instant(from.retry_at_ns(), "job.retry_at", &to->retry_at);
}

namespace {

void write_traffic(const lockstep::BlobTraffic& from, BlobTraffic* to) {
  to->set_from_launcher_bytes(from.from_launcher_bytes);
  to->set_from_peers_bytes(from.from_peers_bytes);
  to->set_to_peers_bytes(from.to_peers_bytes);
  to->set_lies(from.lies);
  to->set_last_lie(from.last_lie);
}

Status read_traffic(const BlobTraffic& from, lockstep::BlobTraffic* to) {
  to->from_launcher_bytes = from.from_launcher_bytes();
  to->from_peers_bytes = from.from_peers_bytes();
  to->to_peers_bytes = from.to_peers_bytes();
  to->lies = from.lies();
  return read_text(from.last_lie(), "node.last_lie", &to->last_lie);
}

}  // namespace

void to_wire(const lockstep::TokenView& from, TokenView* to) {
  to->set_id(from.id);
  to->set_compute(from.compute);
  to->set_machine(from.machine);
  to->set_by(from.by);
  to->set_created_ns(from.created.ns);
  to->set_expires_ns(from.expires.ns);
  to->set_uses(from.uses);
  to->set_used(from.used);
  to->set_needs_approval(from.needs_approval);
}

Status from_wire(const TokenView& from, lockstep::TokenView* to) {
  TRY(read_text(from.id(), "token.id", &to->id, 256));
  TRY(read_text(from.compute(), "token.compute", &to->compute));
  TRY(read_text(from.machine(), "token.machine", &to->machine));
  TRY(read_text(from.by(), "token.by", &to->by));
  TRY(read_instant(from.created_ns(), "token.created", &to->created));
  TRY(read_instant(from.expires_ns(), "token.expires", &to->expires));
  TRY(read_number(from.uses(), INT32_MIN, INT32_MAX, "token.uses", &to->uses));
  to->needs_approval = from.needs_approval();
  return read_number(from.used(), INT32_MIN, INT32_MAX, "token.used", &to->used);
}

void to_wire(const lockstep::NodeView& from, NodeView* to) {
  to->set_id(from.id.value);
  to->set_name(from.name);
  to->set_liveness(wire_enum<Liveness>(from.liveness));
  to->set_draining(from.draining);
  to->set_reason(fitting_text(from.reason));
  to_wire(from.inventory, to->mutable_inventory());
  write_list(from.attempts, to->mutable_attempts());
  to->set_last_heard_ns(from.last_heard.ns);
  to->set_joined_ns(from.joined.ns);
  write_traffic(from.blobs, to->mutable_blobs());
  to->set_waits_for_approval(from.waits_for_approval);
  to->set_compute(from.compute);
  write_map(from.labels, to->mutable_labels());
  if (from.use) to_wire(*from.use, to->mutable_use());
  to->set_clock_ahead_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(from.clock_ahead).count());
  if (from.clock_uncertainty) to->set_clock_uncertainty_ns(from.clock_uncertainty->count());
  to->set_agent_version(from.agent_version);
  to->set_other_version(from.other_version);
  write_list(from.history, to->mutable_history());
  if (from.why) to_wire(from.why, to->mutable_why());
}

Status from_wire(const NodeView& from, lockstep::NodeView* to) {
  to->id = NodeId(from.id());
  TRY(read_text(from.name(), "node.name", &to->name));
  TRY(read_enum(from.liveness(), lockstep::Liveness::lost, "node.liveness", &to->liveness));
  to->draining = from.draining();
  TRY(read_text(from.reason(), "node.reason", &to->reason));
  TRY(read_why(from.reason(), from.has_why(), from.why(), "node.reason", &to->why));
  TRY(from_wire(from.inventory(), &to->inventory));
  TRY(read_list(from.attempts(), kMaxHeldParts, "node.attempts", &to->attempts));
  TRY(read_instant(from.last_heard_ns(), "node.last_heard", &to->last_heard));
  TRY(read_traffic(from.blobs(), &to->blobs));
  to->waits_for_approval = from.waits_for_approval();
  TRY(read_text(from.compute(), "node.compute", &to->compute, 1'024));
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "node.labels", &to->labels));
  constexpr std::int64_t kMaxAheadMs = std::int64_t{200} * 366 * 86'400'000;
  if (from.clock_ahead_ms() < -kMaxAheadMs || from.clock_ahead_ms() > kMaxAheadMs)
    return bad_field("node.clock_ahead", "is beyond 200 years");
  to->clock_ahead = milliseconds(from.clock_ahead_ms());
  if (from.has_clock_uncertainty_ns())
    TRY(read_duration(from.clock_uncertainty_ns(), "node.clock_uncertainty",
                      &to->clock_uncertainty.emplace()));
  if (from.has_use()) TRY(from_wire(from.use(), &to->use.emplace()));
  to->other_version = from.other_version();
  TRY(read_text(from.agent_version(), "node.agent_version", &to->agent_version));
  TRY(read_list(from.history(), 10 * kMaxNodeEvents, "node.history", &to->history));
  return read_instant(from.joined_ns(), "node.joined", &to->joined);
}

void to_wire(const lockstep::PartChange& from, PartChange* to) {
  to->set_part(fitting_text(from.part));
  if (from.was) to->set_was(std::string(from.was->view()));
  if (from.is) to->set_is(std::string(from.is->view()));
  if (!from.files) return;
  to->mutable_files()->set_added(from.files->added);
  to->mutable_files()->set_removed(from.files->removed);
  to->mutable_files()->set_changed(from.files->changed);
  to->mutable_files()->set_first(fitting_text(from.files->first));
  to->mutable_files()->set_more(from.files->more);
}

Status from_wire(const PartChange& from, lockstep::PartChange* to) {
  TRY(read_text(from.part(), "change.part", &to->part));
  if (from.has_was()) TRY(read_digest(from.was(), "change.was", &to->was.emplace()));
  if (from.has_is()) TRY(read_digest(from.is(), "change.is", &to->is.emplace()));
  if (!from.has_files()) return {};
  lockstep::FileChanges& files = to->files.emplace();
  files.added = from.files().added();
  files.removed = from.files().removed();
  files.changed = from.files().changed();
  files.more = from.files().more();
  return read_text(from.files().first(), "change.first", &files.first);
}

void to_wire(const lockstep::SettingsView::Elsewhere& from, SettingElsewhere* to) {
  to_wire(from.setting, to->mutable_setting());
  to->set_ranks(from.ranks);
}
Status from_wire(const SettingElsewhere& from, lockstep::SettingsView::Elsewhere* to) {
  TRY(from_wire(from.setting(), &to->setting));
  return read_text(from.ranks(), "settings.ranks", &to->ranks);
}

void to_wire(const lockstep::SettingsView& from, SettingsView* to) {
  to->set_rank(from.rank);
  to->set_node_name(from.node_name);
  write_list(from.settings, to->mutable_settings());
  write_list(from.elsewhere, to->mutable_elsewhere());
  to->set_more(from.more);
  to->set_absent(from.absent);
  if (from.why_absent) to_wire(from.why_absent, to->mutable_why_absent());
}
Status from_wire(const SettingsView& from, lockstep::SettingsView* to) {
  TRY(read_rank(from.rank(), "settings.rank", &to->rank));
  TRY(read_text(from.node_name(), "settings.node_name", &to->node_name));
  TRY(read_list(from.settings(), kMaxNetworkSettings, "settings", &to->settings));
  TRY(read_list(from.elsewhere(), kMaxElsewhere, "settings.elsewhere", &to->elsewhere));
  to->more = from.more();
  TRY(read_text(from.absent(), "settings.absent", &to->absent));
  return read_why(from.absent(), from.has_why_absent(), from.why_absent(), "settings.absent",
                  &to->why_absent);
}

void to_wire(const lockstep::ExplainView& from, ExplainView* to) {
  to_wire(from.job, to->mutable_job());
  write_texts(from.lines, to->mutable_lines());
  if (from.settings) to_wire(*from.settings, to->mutable_settings());
  if (!from.rerun) return;
  to->mutable_rerun()->set_before(from.rerun->before.value);
  write_list(from.rerun->changes, to->mutable_rerun()->mutable_changes());
}

Status from_wire(const ExplainView& from, lockstep::ExplainView* to) {
  TRY(from_wire(from.job(), &to->job));
  if (from.has_rerun()) {
    lockstep::RerunView& rerun = to->rerun.emplace();
    TRY(read_text(from.rerun().before(), "rerun.before", &rerun.before.value, kMaxJobNameBytes));
    TRY(read_list(from.rerun().changes(), 1'000'000, "rerun.changes", &rerun.changes));
  }
  if (from.has_settings()) TRY(from_wire(from.settings(), &to->settings.emplace()));
  return read_texts(from.lines(), 1'000'000, "explain.lines", &to->lines);
}

void to_wire(const lockstep::JobEvent& from, JobEvent* to) {
  to->set_at_ns(from.at.ns);
  to->set_what(from.what);
  to->set_attempt(from.attempt);
  to->set_node_name(from.node_name);
  to->set_message(fitting_text(from.message));
  if (from.why) to_wire(from.why, to->mutable_why_data());
}

Status from_wire(const JobEvent& from, lockstep::JobEvent* to) {
  TRY(read_instant(from.at_ns(), "event.at", &to->at));
  TRY(read_text(from.what(), "event.what", &to->what));
  to->attempt = from.attempt();
  TRY(read_text(from.node_name(), "event.node_name", &to->node_name));
  TRY(read_why(from.message(), from.has_why_data(), from.why_data(), "event.message", &to->why));
  return read_text(from.message(), "event.message", &to->message);
}

void to_wire(const lockstep::LauncherStatus& from, LauncherStatus* to) {
  to->set_version(from.version);
  to->set_endpoint(from.endpoint);
  to->set_pid(from.pid);
  to->set_home(from.home);
  to->set_started_ns(from.started.ns);
  write_counts(from.jobs, to->mutable_jobs());
  write_counts(from.nodes, to->mutable_nodes());
  to->mutable_keeps()->set_jobs_for_ns(from.keeps.jobs_for.count());
  to->mutable_keeps()->set_jobs(from.keeps.jobs);
  to->mutable_keeps()->set_logs_bytes(from.keeps.logs.count);
  to->mutable_keeps()->set_outputs_bytes(from.keeps.outputs.count);
  to->set_disk_free_bytes(from.disk_free.count);
  to->set_low_space_bytes(from.low_space.count);
  to->set_low_reason(fitting_text(from.low_reason));
  to->set_draining(from.draining);
  to->set_slow_for_ns(from.writes.slow_for.count());
  to->set_last_slow_ns(from.writes.last_slow.count());
  to->set_last_slow_ended_ns(from.writes.last_slow_ended.ns);
}

Status from_wire(const LauncherStatus& from, lockstep::LauncherStatus* to) {
  TRY(read_text(from.version(), "status.version", &to->version));
  TRY(read_text(from.endpoint(), "status.endpoint", &to->endpoint));
  to->pid = from.pid();
  TRY(read_text(from.home(), "status.home", &to->home));
  TRY(read_instant(from.started_ns(), "status.started", &to->started));
  TRY(read_counts(from.jobs(), "status.jobs", &to->jobs));
  TRY(read_duration(from.keeps().jobs_for_ns(), "status.keeps", &to->keeps.jobs_for));
  to->keeps.jobs = from.keeps().jobs();
  to->keeps.logs = Bytes{from.keeps().logs_bytes()};
  to->keeps.outputs = Bytes{from.keeps().outputs_bytes()};
  to->disk_free = Bytes{from.disk_free_bytes()};
  to->low_space = Bytes{from.low_space_bytes()};
  TRY(read_text(from.low_reason(), "status.low_reason", &to->low_reason));
  to->draining = from.draining();
  TRY(read_duration(from.slow_for_ns(), "status.slow_for", &to->writes.slow_for));
  TRY(read_duration(from.last_slow_ns(), "status.last_slow", &to->writes.last_slow));
  TRY(read_instant(from.last_slow_ended_ns(), "status.last_slow_ended",
                   &to->writes.last_slow_ended));
  return read_counts(from.nodes(), "status.nodes", &to->nodes);
}

}  // namespace lockstep::pb
