#include "common/wire/messages/control_codec.h"

#include "common/grammar/job_name.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/views/views_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxJobsInReply = 200'000;
constexpr std::size_t kMaxNodesInReply = 100'000;
constexpr std::size_t kMaxEventsInReply = 10'000;
constexpr std::size_t kMaxFilterWords = 100;

static_assert(is_wire_of(lockstep::ErrorCode::invalid_argument, ERROR_CODE_INVALID_ARGUMENT));
static_assert(is_wire_of(lockstep::ErrorCode::not_found, ERROR_CODE_NOT_FOUND));
static_assert(is_wire_of(lockstep::ErrorCode::already_exists, ERROR_CODE_ALREADY_EXISTS));
static_assert(is_wire_of(lockstep::ErrorCode::permission_denied, ERROR_CODE_PERMISSION_DENIED));
static_assert(is_wire_of(lockstep::ErrorCode::unavailable, ERROR_CODE_UNAVAILABLE));
static_assert(is_wire_of(lockstep::ErrorCode::deadline_exceeded, ERROR_CODE_DEADLINE_EXCEEDED));
static_assert(is_wire_of(lockstep::ErrorCode::resource_exhausted, ERROR_CODE_RESOURCE_EXHAUSTED));
static_assert(is_wire_of(lockstep::ErrorCode::unsupported, ERROR_CODE_UNSUPPORTED));
static_assert(is_wire_of(lockstep::ErrorCode::conflict, ERROR_CODE_CONFLICT));
static_assert(is_wire_of(lockstep::ErrorCode::corrupt, ERROR_CODE_CORRUPT));
static_assert(is_wire_of(lockstep::ErrorCode::io, ERROR_CODE_IO));
static_assert(is_wire_of(lockstep::ErrorCode::internal, ERROR_CODE_INTERNAL));
static_assert(is_wire_of(lockstep::kLastErrorCode, ERROR_CODE_UNSATISFIABLE));

// A request names a job in the user's words: what is no name is answered "no such job", not
// refused.
template <typename Wire>
Status read_job_named(const Wire& from, JobId* to) {
  return read_text(from.job(), "job", &to->value, 1'024);
}

}  // namespace

// ---- agent -> launcher --------------------------------------------------------------------------

void to_wire(const lockstep::PreemptionNotice& from, PreemptionNotice* to) {
  to->set_left_ns(from.left.count());
  to->set_reason(from.reason);
}

Status from_wire(const PreemptionNotice& from, lockstep::PreemptionNotice* to) {
  TRY(read_duration(from.left_ns(), "notice.left", &to->left));
  return read_text(from.reason(), "notice.reason", &to->reason, kMaxNoticeReasonBytes);
}

void to_wire(const lockstep::MachinePart& from, MachinePart* to) {
  to->set_id(from.id);
  to->set_machine_id(from.machine_id);
  to->set_memory_bytes(from.memory.count);
  to->set_is_part(from.is_part);
}

Status from_wire(const MachinePart& from, lockstep::MachinePart* to) {
  constexpr std::size_t kMaxIdBytes = 300;
  TRY(read_text(from.id(), "machine.id", &to->id, kMaxIdBytes));
  TRY(read_text(from.machine_id(), "machine.machine_id", &to->machine_id, kMaxIdBytes));
  to->memory = Bytes{from.memory_bytes()};
  to->is_part = from.is_part();
  return {};
}

void to_wire(const lockstep::SessionOpen& from, SessionOpen* to) {
  to->set_node(from.node.value);
  to->set_boot(from.boot.value);
  to->set_session(from.session.value);
  to->set_version(from.version);
  to_wire(from.inventory, to->mutable_inventory());
  write_list(from.parts, to->mutable_parts());
  to->set_desired_revision(from.desired_revision);
  to->set_answers(from.answers);
  if (from.notice) to_wire(*from.notice, to->mutable_notice());
  if (from.machine != lockstep::MachinePart{}) to_wire(from.machine, to->mutable_machine());
  to->set_inventory_number(from.inventory_number);
}

Status from_wire(const SessionOpen& from, lockstep::SessionOpen* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.boot(), "session.boot", &to->boot.value, 1'024));
  to->session = SessionId(from.session());
  TRY(read_text(from.version(), "session.version", &to->version, 1'024));
  TRY(from_wire(from.inventory(), &to->inventory));
  to->desired_revision = from.desired_revision();
  to->answers = from.answers();
  if (from.has_notice()) TRY(from_wire(from.notice(), &to->notice.emplace()));
  TRY(from_wire(from.machine(), &to->machine));
  to->inventory_number = from.inventory_number();
  return read_list(from.parts(), kMaxHeldParts, "session.parts", &to->parts);
}

void to_wire(const lockstep::Heartbeat& from, Heartbeat* to) {
  to->set_node(from.node.value);
  to->set_session(from.session.value);
  to->set_desired_revision(from.desired_revision);
  to->set_observed_sequence(from.observed_sequence);
  to->set_number(from.number);
  write_why(from.low_disk, to->mutable_low_disk(), [&] { return to->mutable_low_disk_data(); });
  to->set_wall_clock_ns(from.wall_clock.ns);
  if (from.notice) to_wire(*from.notice, to->mutable_notice());
  to->set_acked_ns(from.acked.ns);
  to->set_acked_at_ns(from.acked_at.ns);
}

Status from_wire(const Heartbeat& from, lockstep::Heartbeat* to) {
  to->node = NodeId(from.node());
  to->session = SessionId(from.session());
  to->desired_revision = from.desired_revision();
  to->observed_sequence = from.observed_sequence();
  to->number = from.number();
  TRY(read_instant(from.wall_clock_ns(), "heartbeat.wall_clock", &to->wall_clock));
  TRY(read_instant(from.acked_ns(), "heartbeat.acked", &to->acked));
  TRY(read_instant(from.acked_at_ns(), "heartbeat.acked_at", &to->acked_at));
  if (from.has_notice()) TRY(from_wire(from.notice(), &to->notice.emplace()));
  return read_why(from.low_disk(), from.has_low_disk_data(), from.low_disk_data(),
                  "heartbeat.low_disk", &to->low_disk);
}

void to_wire(const lockstep::Observed& from, Observed* to) {
  to->set_node(from.node.value);
  to->set_session(from.session.value);
  to->set_sequence(from.sequence);
  write_list(from.parts, to->mutable_parts());
  write_list(from.removed, to->mutable_removed());
}

Status from_wire(const Observed& from, lockstep::Observed* to) {
  to->node = NodeId(from.node());
  to->session = SessionId(from.session());
  to->sequence = from.sequence();
  TRY(read_list(from.parts(), kMaxHeldParts, "observed.parts", &to->parts));
  return read_list(from.removed(), kMaxHeldParts, "observed.removed", &to->removed);
}

// ---- launcher -> agent --------------------------------------------------------------------------

void to_wire(const lockstep::LauncherAddress& from, LauncherAddress* to) {
  to->set_control(from.control);
  to->set_bulk(from.bulk);
}

Status from_wire(const LauncherAddress& from, lockstep::LauncherAddress* to) {
  TRY(read_text(from.control(), "address.control", &to->control, kMaxLauncherAddressBytes));
  return read_text(from.bulk(), "address.bulk", &to->bulk, kMaxLauncherAddressBytes);
}

void to_wire(const lockstep::LauncherAddresses& from, LauncherAddresses* to) {
  write_list(from.addresses, to->mutable_addresses());
}

Status from_wire(const LauncherAddresses& from, lockstep::LauncherAddresses* to) {
  return read_list(from.addresses(), kMaxLauncherAddresses, "addresses", &to->addresses);
}

void to_wire(const lockstep::SessionAccepted& from, SessionAccepted* to) {
  to->set_session(from.session.value);
  to->set_heartbeat_interval_ns(from.heartbeat_interval.count());
  to_wire(from.desired, to->mutable_desired());
  to->set_reconnect_within_ns(from.reconnect_within.count());
  write_list(from.addresses, to->mutable_addresses());
}

Status from_wire(const SessionAccepted& from, lockstep::SessionAccepted* to) {
  to->session = SessionId(from.session());
  TRY(read_duration(from.heartbeat_interval_ns(), "heartbeat_interval", &to->heartbeat_interval));
  TRY(read_duration(from.reconnect_within_ns(), "reconnect_within", &to->reconnect_within));
  TRY(read_list(from.addresses(), kMaxLauncherAddresses, "addresses", &to->addresses));
  return from_wire(from.desired(), &to->desired);
}

void to_wire(const lockstep::SessionRefused& from, SessionRefused* to) {
  to->set_session(from.session.value);
  to->set_reason(fitting_text(from.reason));
  to->set_removed(from.removed);
}

Status from_wire(const SessionRefused& from, lockstep::SessionRefused* to) {
  to->session = SessionId(from.session());
  to->removed = from.removed();
  return read_text(from.reason(), "session.reason", &to->reason);
}

void to_wire(const lockstep::SessionLost& from, SessionLost* to) {
  to->set_session(from.session.value);
  to->set_question(from.question);
}

Status from_wire(const SessionLost& from, lockstep::SessionLost* to) {
  to->session = SessionId(from.session());
  to->question = from.question();
  return {};
}

void to_wire(const lockstep::HeartbeatAck& from, HeartbeatAck* to) {
  to->set_session(from.session.value);
  to->set_number(from.number);
  to->set_revision(from.revision);
  to->set_time_ns(from.time.ns);
}

Status from_wire(const HeartbeatAck& from, lockstep::HeartbeatAck* to) {
  to->session = SessionId(from.session());
  to->number = from.number();
  to->revision = from.revision();
  return read_instant(from.time_ns(), "heartbeat_ack.time", &to->time);
}

void to_wire(const lockstep::ObservedAck& from, ObservedAck* to) {
  to->set_session(from.session.value);
  to->set_sequence(from.sequence);
}

Status from_wire(const ObservedAck& from, lockstep::ObservedAck* to) {
  to->session = SessionId(from.session());
  to->sequence = from.sequence();
  return {};
}

void to_wire(const lockstep::Desired& from, Desired* to) {
  to->set_session(from.session.value);
  to_wire(from.desired, to->mutable_desired());
}

Status from_wire(const Desired& from, lockstep::Desired* to) {
  to->session = SessionId(from.session());
  return from_wire(from.desired(), &to->desired);
}

// ---- client -> launcher -------------------------------------------------------------------------

void to_wire(const lockstep::Submit& from, Submit* to) {
  to->set_submission(from.submission);
  to_wire(from.spec, to->mutable_spec());
  to->set_rebuild(from.rebuild);
  to->set_waits(from.waits);
  to->set_wait_anyway(from.wait_anyway);
}

Status from_wire(const Submit& from, lockstep::Submit* to) {
  to->rebuild = from.rebuild();
  to->waits = from.waits();
  to->wait_anyway = from.wait_anyway();
  TRY(read_text(from.submission(), "submission", &to->submission, 256));
  return from_wire(from.spec(), &to->spec);
}

void to_wire(const lockstep::CancelJob& from, CancelJob* to) { to->set_job(from.job.value); }
Status from_wire(const CancelJob& from, lockstep::CancelJob* to) {
  return read_job_named(from, &to->job);
}

static Status read_jobs(const google::protobuf::RepeatedPtrField<std::string>& from,
                        std::vector<JobId>* to) {
  if (static_cast<std::size_t>(from.size()) > kMaxJobsInReply)
    return bad_field("jobs", "has too many entries");
  for (const std::string& name : from) TRY(read_job(name, "jobs", &to->emplace_back()));
  return {};
}

void to_wire(const lockstep::DeleteJobs& from, DeleteJobs* to) {
  for (const JobId& job : from.jobs) to->add_jobs(job.value);
  to->set_all_final(from.all_final);
  to->set_older_than_ns(from.older_than.count());
  to->set_all_users(from.all_users);
}
Status from_wire(const DeleteJobs& from, lockstep::DeleteJobs* to) {
  TRY(read_jobs(from.jobs(), &to->jobs));
  to->all_final = from.all_final();
  to->all_users = from.all_users();
  return read_duration(from.older_than_ns(), "older_than", &to->older_than);
}

void to_wire(const lockstep::JobFilter& from, JobFilter* to) {
  to->set_mine(from.mine);
  for (const auto status : from.statuses) to->add_statuses(wire_enum<JobStatus>(status));
  to->set_experiment(from.experiment);
  to->set_user(from.user);
  for (const auto& tag : from.tags) {
    auto* wire = to->add_tags();
    wire->set_key(tag.key);
    if (tag.value) wire->set_value(*tag.value);
  }
  to->set_since_ns(from.since.ns);
  to->set_parent(from.parent.value);
  to->set_archived(wire_enum<ArchivedToo>(from.archived));
}

Status from_wire(const JobFilter& from, lockstep::JobFilter* to) {
  to->mine = from.mine();
  TRY(check_count(from.statuses_size(), kMaxFilterWords, "filter.statuses"));
  for (const int status : from.statuses())
    TRY(read_word(status, "filter.statuses", &to->statuses.emplace_back()));
  TRY(read_text(from.experiment(), "filter.experiment", &to->experiment));
  TRY(read_text(from.user(), "filter.user", &to->user, 1'024));
  TRY(check_count(from.tags_size(), kMaxFilterWords, "filter.tags"));
  for (const auto& tag : from.tags()) {
    auto& read = to->tags.emplace_back();
    TRY(read_text(tag.key(), "filter.tags.key", &read.key));
    if (tag.has_value()) TRY(read_text(tag.value(), "filter.tags.value", &read.value.emplace()));
  }
  TRY(read_text(from.parent(), "filter.parent", &to->parent.value, kMaxJobNameBytes));
  if (from.archived() != ARCHIVED_TOO_UNSPECIFIED)
    TRY(read_enum(from.archived(), lockstep::ArchivedToo::only, "filter.archived", &to->archived));
  return read_instant(from.since_ns(), "filter.since", &to->since);
}

void to_wire(const lockstep::ListJobs& from, ListJobs* to) {
  to->set_all(from.all);
  to->set_limit(from.limit);
  to->set_after(from.after.value);
  to_wire(from.filter, to->mutable_filter());
}

Status from_wire(const ListJobs& from, lockstep::ListJobs* to) {
  to->all = from.all();
  TRY(read_text(from.after(), "after", &to->after.value, 1'024));
  TRY(from_wire(from.filter(), &to->filter));
  return read_number(from.limit(), 0, INT32_MAX, "limit", &to->limit);
}

void to_wire(const lockstep::ShowJob& from, ShowJob* to) {
  to->set_job(from.job.value);
  to->set_with_steps(from.with_steps);
}
Status from_wire(const ShowJob& from, lockstep::ShowJob* to) {
  to->with_steps = from.with_steps();
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::ShareJob& from, ShareJob* to) {
  to->set_job(from.job.value);
  to->set_shared(from.shared);
}
Status from_wire(const ShareJob& from, lockstep::ShareJob* to) {
  to->shared = from.shared();
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::UpdateJob& from, UpdateJob* to) {
  to->set_job(from.job.value);
  to->set_priority(wire_enum<Priority>(from.priority));
}
Status from_wire(const UpdateJob& from, lockstep::UpdateJob* to) {
  TRY(read_word(from.priority(), "priority", &to->priority));
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::ArchiveJob& from, ArchiveJob* to) {
  to->set_job(from.job.value);
  to->set_archived(from.archived);
}
Status from_wire(const ArchiveJob& from, lockstep::ArchiveJob* to) {
  to->archived = from.archived();
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::AnnotateJob& from, AnnotateJob* to) {
  to->set_job(from.job.value);
  if (from.display_name) to->set_display_name(*from.display_name);
  if (from.description) to->set_description(*from.description);
  if (from.experiment_name) to->set_experiment_name(*from.experiment_name);
  write_map(from.set_tags, to->mutable_set_tags());
  write_texts(from.remove_tags, to->mutable_remove_tags());
  to->set_clear_tags(from.clear_tags);
}
Status from_wire(const AnnotateJob& from, lockstep::AnnotateJob* to) {
  if (from.has_display_name())
    TRY(read_text(from.display_name(), "display_name", &to->display_name.emplace()));
  if (from.has_description())
    TRY(read_text(from.description(), "description", &to->description.emplace(),
                  kMaxAnnotationBytes));
  if (from.has_experiment_name())
    TRY(read_text(from.experiment_name(), "experiment_name", &to->experiment_name.emplace()));
  TRY(read_map(from.set_tags(), kMaxJobTags, "tags", &to->set_tags));
  TRY(read_texts(from.remove_tags(), kMaxJobTags, "remove_tags", &to->remove_tags));
  to->clear_tags = from.clear_tags();
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::ExplainJob& from, ExplainJob* to) {
  to->set_job(from.job.value);
  if (from.settings_of_rank) to->set_settings_of_rank(*from.settings_of_rank);
}
Status from_wire(const ExplainJob& from, lockstep::ExplainJob* to) {
  if (from.has_settings_of_rank())
    TRY(read_rank(from.settings_of_rank(), "settings_of_rank", &to->settings_of_rank.emplace()));
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::ListEvents& from, ListEvents* to) {
  to->set_job(from.job.value);
  to->set_since_ns(from.since.ns);
}
Status from_wire(const ListEvents& from, lockstep::ListEvents* to) {
  TRY(read_job_named(from, &to->job));
  return read_instant(from.since_ns(), "since", &to->since);
}

void to_wire(const lockstep::WatchJob& from, WatchJob* to) { to->set_job(from.job.value); }
Status from_wire(const WatchJob& from, lockstep::WatchJob* to) {
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::ListNodes&, ListNodes*) {}
Status from_wire(const ListNodes&, lockstep::ListNodes*) { return {}; }

void to_wire(const lockstep::ShowNode& from, ShowNode* to) {
  to->set_name_or_id(from.name_or_id);
  to->set_history(from.history);
}
Status from_wire(const ShowNode& from, lockstep::ShowNode* to) {
  to->history = from.history();
  return read_text(from.name_or_id(), "name_or_id", &to->name_or_id, 1'024);
}

void to_wire(const lockstep::CreateToken& from, CreateToken* to) {
  to->set_valid_for_ns(from.valid_for.count());
  to->set_uses(from.uses);
  to->set_approval(describe(from.approval).number);
  to->set_compute(from.compute);
}

Status from_wire(const CreateToken& from, lockstep::CreateToken* to) {
  TRY(read_duration(from.valid_for_ns(), "valid_for", &to->valid_for));
  TRY(read_word(from.approval(), "approval", &to->approval));
  TRY(read_text(from.compute(), "compute", &to->compute, 1'024));
  return read_number(from.uses(), 1, 1'000'000, "uses", &to->uses);
}

void to_wire(const lockstep::ListTokens&, ListTokens*) {}

Status from_wire(const ListTokens&, lockstep::ListTokens*) { return {}; }

void to_wire(const lockstep::RevokeToken& from, RevokeToken* to) { to->set_id(from.id); }

Status from_wire(const RevokeToken& from, lockstep::RevokeToken* to) {
  return read_text(from.id(), "id", &to->id, 256);
}

void to_wire(const lockstep::TokensReply& from, TokensReply* to) {
  write_list(from.tokens, to->mutable_tokens());
}

Status from_wire(const TokensReply& from, lockstep::TokensReply* to) {
  return read_list(from.tokens(), kMaxTokens, "tokens", &to->tokens);
}

void to_wire(const lockstep::DrainNode& from, DrainNode* to) {
  to->set_name_or_id(from.name_or_id);
  to->set_drain(from.drain);
  to->set_reason(fitting_text(from.reason));
}

Status from_wire(const DrainNode& from, lockstep::DrainNode* to) {
  TRY(read_text(from.name_or_id(), "name_or_id", &to->name_or_id, 1'024));
  to->drain = from.drain();
  return read_text(from.reason(), "reason", &to->reason);
}

void to_wire(const lockstep::RemoveNode& from, RemoveNode* to) {
  to->set_name_or_id(from.name_or_id);
  to->set_now(from.now);
}
Status from_wire(const RemoveNode& from, lockstep::RemoveNode* to) {
  to->now = from.now();
  return read_text(from.name_or_id(), "name_or_id", &to->name_or_id, 1'024);
}

void to_wire(const lockstep::ApproveNode& from, ApproveNode* to) {
  to->set_name_or_id(from.name_or_id);
}
Status from_wire(const ApproveNode& from, lockstep::ApproveNode* to) {
  return read_text(from.name_or_id(), "name_or_id", &to->name_or_id, 1'024);
}

void to_wire(const lockstep::GetStatus&, GetStatus*) {}
Status from_wire(const GetStatus&, lockstep::GetStatus*) { return {}; }

void to_wire(const lockstep::Shutdown& from, Shutdown* to) {
  to->set_cancel_jobs(from.cancel_jobs);
}
Status from_wire(const Shutdown& from, lockstep::Shutdown* to) {
  to->cancel_jobs = from.cancel_jobs();
  return {};
}

// ---- launcher -> client -------------------------------------------------------------------------

void to_wire(const lockstep::LabelNode& from, LabelNode* to) {
  to->set_name_or_id(from.name_or_id);
  write_map(from.set, to->mutable_set());
  write_texts(from.remove, to->mutable_remove());
}
Status from_wire(const LabelNode& from, lockstep::LabelNode* to) {
  TRY(read_text(from.name_or_id(), "label.node", &to->name_or_id));
  TRY(read_map(from.set(), 10 * kMaxNodeLabels, "label.set", &to->set));
  return read_texts(from.remove(), 10 * kMaxNodeLabels, "label.remove", &to->remove);
}

void to_wire(const lockstep::SubmitReply& from, SubmitReply* to) {
  to->set_job(from.job.value);
  to->set_snapshot_missing(from.snapshot_missing);
  write_texts(from.notes, to->mutable_notes());
}

Status from_wire(const SubmitReply& from, lockstep::SubmitReply* to) {
  TRY(read_texts(from.notes(), 1'000, "submitted.notes", &to->notes));
  to->snapshot_missing = from.snapshot_missing();
  return read_job_named(from, &to->job);
}

void to_wire(const lockstep::JobReply& from, JobReply* to) { to_wire(from.job, to->mutable_job()); }
Status from_wire(const JobReply& from, lockstep::JobReply* to) {
  return from_wire(from.job(), &to->job);
}

void to_wire(const lockstep::JobsDeleted& from, JobsDeleted* to) {
  for (const JobId& job : from.jobs) to->add_jobs(job.value);
  for (const auto& kept : from.kept) {
    KeptJob* job = to->add_kept();
    job->set_job(kept.job.value);
    job->set_code(wire_enum<ErrorCode>(kept.code));
    job->set_message(fitting_text(kept.message));
  }
  to->set_more(from.more);
}
Status from_wire(const JobsDeleted& from, lockstep::JobsDeleted* to) {
  TRY(read_jobs(from.jobs(), &to->jobs));
  if (static_cast<std::size_t>(from.kept_size()) > kMaxJobsInReply)
    return bad_field("kept", "has too many entries");
  for (const KeptJob& kept : from.kept()) {
    auto& job = to->kept.emplace_back();
    TRY(read_job(kept.job(), "kept.job", &job.job));
    TRY(read_enum(kept.code(), lockstep::kLastErrorCode, "kept.code", &job.code));
    TRY(read_text(kept.message(), "kept.message", &job.message));
  }
  to->more = from.more();
  return {};
}

void to_wire(const lockstep::JobUpdate& from, JobUpdate* to) {
  to_wire(from.job, to->mutable_job());
}
Status from_wire(const JobUpdate& from, lockstep::JobUpdate* to) {
  return from_wire(from.job(), &to->job);
}

void to_wire(const lockstep::WaitsForDisk& from, WaitsForDisk* to) {
  to->set_slow_for_ns(from.slow_for.count());
}
Status from_wire(const WaitsForDisk& from, lockstep::WaitsForDisk* to) {
  return read_duration(from.slow_for_ns(), "slow_for", &to->slow_for);
}

void to_wire(const lockstep::StillWatching& from, StillWatching* to) {
  to->set_job(from.job.value);
  to->set_launcher_started_ns(from.launcher_started.ns);
}
Status from_wire(const StillWatching& from, lockstep::StillWatching* to) {
  TRY(read_job_named(from, &to->job));
  return read_instant(from.launcher_started_ns(), "launcher_started", &to->launcher_started);
}

void to_wire(const lockstep::JobsReply& from, JobsReply* to) {
  write_list(from.jobs, to->mutable_jobs());
  to->set_more(from.more);
  to->set_more_at_least(from.more_at_least);
}
Status from_wire(const JobsReply& from, lockstep::JobsReply* to) {
  to->more = from.more();
  to->more_at_least = from.more_at_least();
  return read_list(from.jobs(), kMaxJobsInReply, "jobs", &to->jobs);
}

void to_wire(const lockstep::EventsReply& from, EventsReply* to) {
  write_list(from.events, to->mutable_events());
  to->set_left_out(from.left_out);
  to->set_final(from.final);
}
Status from_wire(const EventsReply& from, lockstep::EventsReply* to) {
  TRY(read_list(from.events(), kMaxEventsInReply, "events", &to->events));
  to->left_out = from.left_out();
  to->final = from.final();
  return {};
}

void to_wire(const lockstep::ExplainReply& from, ExplainReply* to) {
  to_wire(from.explain, to->mutable_explain());
}
Status from_wire(const ExplainReply& from, lockstep::ExplainReply* to) {
  return from_wire(from.explain(), &to->explain);
}

void to_wire(const lockstep::NodesReply& from, NodesReply* to) {
  write_list(from.nodes, to->mutable_nodes());
}
Status from_wire(const NodesReply& from, lockstep::NodesReply* to) {
  return read_list(from.nodes(), kMaxNodesInReply, "nodes", &to->nodes);
}

void to_wire(const lockstep::TokenReply& from, TokenReply* to) {
  to->set_token(from.token);
  to->set_expires_ns(from.expires.ns);
}

Status from_wire(const TokenReply& from, lockstep::TokenReply* to) {
  TRY(read_text(from.token(), "token", &to->token));
  return read_instant(from.expires_ns(), "expires", &to->expires);
}

void to_wire(const lockstep::StatusReply& from, StatusReply* to) {
  to_wire(from.status, to->mutable_status());
}
Status from_wire(const StatusReply& from, lockstep::StatusReply* to) {
  return from_wire(from.status(), &to->status);
}

void to_wire(const lockstep::Done& from, Done* to) { to->set_message(fitting_text(from.message)); }
Status from_wire(const Done& from, lockstep::Done* to) {
  return read_text(from.message(), "message", &to->message);
}

void to_wire(const lockstep::Refused& from, Refused* to) {
  const bool is_new = from.code == lockstep::ErrorCode::unsatisfiable;
  to->set_code(is_new ? ERROR_CODE_INVALID_ARGUMENT : wire_enum<ErrorCode>(from.code));
  if (is_new) to->set_precise(wire_enum<ErrorCode>(from.code));
  to->set_message(fitting_text(from.message));
}

Status from_wire(const Refused& from, lockstep::Refused* to) {
  const auto code = from.precise() == ERROR_CODE_UNSPECIFIED ? from.code() : from.precise();
  TRY(read_enum(code, lockstep::kLastErrorCode, "code", &to->code));
  return read_text(from.message(), "message", &to->message);
}

// ---- join socket --------------------------------------------------------------------------------

void to_wire(const lockstep::JoinRequest& from, JoinRequest* to) {
  to->set_token_secret(from.token_secret);
  to->set_name(from.name);
  to->set_version(from.version);
  if (from.machine != lockstep::MachinePart{}) to_wire(from.machine, to->mutable_machine());
}

Status from_wire(const JoinRequest& from, lockstep::JoinRequest* to) {
  TRY(read_text(from.token_secret(), "token_secret", &to->token_secret, 1'024));
  TRY(read_text(from.name(), "name", &to->name, 256));
  TRY(from_wire(from.machine(), &to->machine));
  return read_text(from.version(), "version", &to->version, 256);
}

void to_wire(const lockstep::AskAboutKey&, AskAboutKey*) {}
Status from_wire(const AskAboutKey&, lockstep::AskAboutKey*) { return {}; }

// Kinds: 0 unknown, 1 valid, 2 revoked, 3 user_removed, 4 line_removed.
void to_wire(const lockstep::KeyStanding& from, KeyStanding* to) {
  to->set_kind(static_cast<int>(from.kind));
  to->set_user(from.user);
  to->set_at_ns(from.at.ns);
  to->set_by(from.by);
}

Status from_wire(const KeyStanding& from, lockstep::KeyStanding* to) {
  using Kind = lockstep::KeyStanding::Kind;
  static_assert(static_cast<int>(Kind::line_removed) == 4);
  if (from.kind() < 0 || from.kind() > static_cast<int>(Kind::line_removed))
    return bad_field("standing.kind", "is unknown");
  to->kind = static_cast<Kind>(from.kind());
  TRY(read_text(from.user(), "standing.user", &to->user, 1'024));
  TRY(read_instant(from.at_ns(), "standing.at", &to->at));
  return read_text(from.by(), "standing.by", &to->by, 1'024);
}

void to_wire(const lockstep::JoinAccepted& from, JoinAccepted* to) {
  to->set_node(from.node.value);
  to->set_name(from.name);
}

Status from_wire(const JoinAccepted& from, lockstep::JoinAccepted* to) {
  to->node = NodeId(from.node());
  return read_text(from.name(), "name", &to->name, 1'024);
}

void to_wire(const lockstep::JoinRefused& from, JoinRefused* to) {
  to->set_reason(fitting_text(from.reason));
}
Status from_wire(const JoinRefused& from, lockstep::JoinRefused* to) {
  return read_text(from.reason(), "reason", &to->reason);
}

void to_wire(const lockstep::AttachWanted& from, AttachWanted* to) {
  to_wire(from.frame, to->mutable_frame());
}

Status from_wire(const AttachWanted& from, lockstep::AttachWanted* to) {
  return from_wire(from.frame(), &to->frame);
}

void to_wire(const lockstep::AllowPeers& from, AllowPeers* to) {
  for (const PublicKey& key : from.keys) to->add_keys(key.value);
  if (from.root != lockstep::Digest()) to->set_root(std::string(from.root.view()));
  to->set_withdrawn(from.withdrawn);
  for (const PublicKey& key : from.revoked) to->add_revoked(key.value);
}
Status from_wire(const AllowPeers& from, lockstep::AllowPeers* to) {
  TRY(check_count(from.keys_size(), kMaxAllowedAtOnce, "allow_peers.keys"));
  for (const auto& key : from.keys())
    TRY(read_key(key, "allow_peers.key", &to->keys.emplace_back()));
  TRY(check_count(from.revoked_size(), kMaxAllowedAtOnce, "allow_peers.revoked"));
  for (const auto& key : from.revoked())
    TRY(read_key(key, "allow_peers.revoked", &to->revoked.emplace_back()));
  to->withdrawn = from.withdrawn();
  if (from.root().empty()) return {};  // of before it was named: of no tree, then
  return read_digest(from.root(), "allow_peers.root", &to->root);
}

}  // namespace lockstep::pb
