#include "common/wire/targets/compute_codec.h"

#include <climits>

#include "common/domain/targets/provider_settings.h"
#include "common/wire/targets/schedule_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {

// Longer than any valid name, so that the launcher answers a request for an invalid name with
// "there is no such target" instead of dropping the message.
constexpr std::size_t kMaxNameBytes = 1'024;

// On the wire and in journals, for ever; the enum's own order may change.
int number_of(ComputeType type) {
  switch (type) {
    case ComputeType::local: return 1;
    case ComputeType::virtualmachine: return 2;
    case ComputeType::amlcompute: return 3;
    case ComputeType::kubernetes: return 5;
    case ComputeType::computeinstance: return 7;
  }
  return 0;
}

Status read_type(int number, ComputeType* to) {
  for (const ComputeType type :
       {ComputeType::local, ComputeType::virtualmachine, ComputeType::amlcompute,
        ComputeType::kubernetes, ComputeType::computeinstance}) {
    if (number_of(type) != number) continue;
    *to = type;
    return {};
  }
  return bad_field("compute.type", "has a value that this version does not know");
}

int number_of(NodeSource source) {
  switch (source) {
    case NodeSource::none: return 0;
    case NodeSource::join: return 1;
    case NodeSource::ssh: return 2;
    case NodeSource::docker: return 3;
    case NodeSource::slurm: return 4;
    case NodeSource::command: return 5;
    case NodeSource::kubernetes: return 6;
  }
  return 0;
}

// Targets of before 0.7 have none on record: of a virtualmachine it was join.
Status read_source(int number, ComputeType type, NodeSource* to) {
  if (number == 0) {
    *to = type == ComputeType::local ? NodeSource::none : NodeSource::join;
    return {};
  }
  for (const NodeSource source : {NodeSource::join, NodeSource::ssh, NodeSource::docker,
                                  NodeSource::slurm, NodeSource::command, NodeSource::kubernetes}) {
    if (number_of(source) != number) continue;
    *to = source;
    return {};
  }
  return bad_field("compute.source", "is none that this version knows");
}

Status read_count(std::int64_t from, const char* field, std::int64_t* to) {
  if (from < 0) return bad_field(field, "is negative");
  *to = from;
  return {};
}

int number_of(Tier tier) {
  switch (tier) {
    case Tier::dedicated: return 0;
    case Tier::low_priority: return 1;
  }
  return 0;
}

void write_scale(const lockstep::Scale& from, Scale* to) {
  to->set_tier(number_of(from.tier));
  to->set_min_instances(from.min_instances);
  to->set_max_instances(from.max_instances);
  to->set_idle_time_ns(from.idle_time.count());
}
Status read_scale(const Scale& from, lockstep::Scale* to) {
  if (from.tier() < 0 || from.tier() > 1)
    return bad_field("compute.tier", "is none that this version knows");
  to->tier = from.tier() == 1 ? Tier::low_priority : Tier::dedicated;
  TRY(read_number(from.min_instances(), 0, INT_MAX, "compute.min_instances", &to->min_instances));
  TRY(read_number(from.max_instances(), 0, INT_MAX, "compute.max_instances", &to->max_instances));
  if (from.idle_time_ns() < 0) return bad_field("compute.idle_time", "is negative");
  to->idle_time = Duration(from.idle_time_ns());
  return {};
}

void write_settings(const ProviderSettings& from,
                    google::protobuf::RepeatedPtrField<ProviderSetting>* to) {
  for (const auto& [name, words] : from) {
    ProviderSetting* setting = to->Add();
    setting->set_name(name);
    write_texts(words, setting->mutable_words());
  }
}
Status read_settings(const google::protobuf::RepeatedPtrField<ProviderSetting>& from,
                     ProviderSettings* to) {
  if (static_cast<std::size_t>(from.size()) > 2 * kMaxSettings)
    return bad_field("compute.settings", "are too many");
  for (const ProviderSetting& setting : from) {
    std::string name;
    TRY(read_text(setting.name(), "setting.name", &name, 2 * kMaxSettingBytes));
    TRY(read_texts(setting.words(), 2 * kMaxSettingWords, "setting.words", &(*to)[name]));
  }
  return {};
}

void write_scaling(const lockstep::ScalingView& from, ScalingView* to) {
  to->set_wanted(from.wanted);
  to->set_preparing(from.preparing);
  to->set_leaving(from.leaving);
  to->set_changed_ns(from.changed.ns);
  to->set_why(fitting_text(from.why));
  to->set_failure(fitting_text(from.failure));
  to->set_retry_at_ns(from.retry_at.ns);
  if (from.why_data) to_wire(from.why_data, to->mutable_why_data());
  if (from.failure_data) to_wire(from.failure_data, to->mutable_failure_data());
}
Status read_scaling(const ScalingView& from, lockstep::ScalingView* to) {
  TRY(read_count(from.wanted(), "scaling.wanted", &to->wanted));
  TRY(read_count(from.preparing(), "scaling.preparing", &to->preparing));
  TRY(read_count(from.leaving(), "scaling.leaving", &to->leaving));
  TRY(read_instant(from.changed_ns(), "scaling.changed", &to->changed));
  TRY(read_text(from.why(), "scaling.why", &to->why));
  TRY(read_text(from.failure(), "scaling.failure", &to->failure));
  TRY(from_wire(from.why_data(), &to->why_data));
  TRY(from_wire(from.failure_data(), &to->failure_data));
  return read_instant(from.retry_at_ns(), "scaling.retry_at", &to->retry_at);
}

void write_nodes(const lockstep::ComputeView::Nodes& from, ComputeNodes* to) {
  to->set_total(from.total);
  to->set_idle(from.idle);
  to->set_busy(from.busy);
  to->set_unavailable(from.unavailable);
}
Status read_nodes(const ComputeNodes& from, lockstep::ComputeView::Nodes* to) {
  TRY(read_count(from.total(), "compute.nodes.total", &to->total));
  TRY(read_count(from.idle(), "compute.nodes.idle", &to->idle));
  TRY(read_count(from.busy(), "compute.nodes.busy", &to->busy));
  return read_count(from.unavailable(), "compute.nodes.unavailable", &to->unavailable);
}

}  // namespace

void to_wire(const lockstep::ComputeSpec& from, ComputeSpec* to) {
  to->set_name(from.name);
  to->set_type(number_of(from.type));
  to->set_description(from.description);
  to->set_location(from.location);
  write_map(from.tags, to->mutable_tags());
  to->set_source(number_of(from.source));
  write_list(from.hosts, to->mutable_hosts());
  to->set_tunnel(std::string(to_string(from.tunnel)));
  to->set_size(from.size);
  if (!(from.scale == lockstep::Scale{})) write_scale(from.scale, to->mutable_scale());
  write_settings(from.settings, to->mutable_settings());
  to->set_shutdown_after_ns(from.instance.idle_time.count());
  write_list(from.instance.schedules, to->mutable_schedules());
  write_map(from.labels, to->mutable_labels());
}
Status from_wire(const ComputeSpec& from, lockstep::ComputeSpec* to) {
  TRY(read_text(from.name(), "compute.name", &to->name, kMaxNameBytes));
  TRY(read_type(from.type(), &to->type));
  TRY(read_text(from.description(), "compute.description", &to->description));
  TRY(read_text(from.location(), "compute.location", &to->location));
  TRY(read_map(from.tags(), 10 * kMaxComputeTags, "compute.tags", &to->tags));
  TRY(read_source(from.source(), to->type, &to->source));
  TRY(read_list(from.hosts(), 2 * kMaxHosts, "compute.hosts", &to->hosts));
  // check(ComputeSpec) refuses what is unknown.
  to->tunnel = lockstep::tunnel_use_from(from.tunnel()).value_or(lockstep::TunnelUse::unknown);
  TRY(read_text(from.size(), "compute.size", &to->size, kMaxNameBytes));
  if (from.has_scale()) {
    TRY(read_scale(from.scale(), &to->scale));
  }
  if (from.shutdown_after_ns() < 0) return bad_field("compute.shutdown_after", "is negative");
  to->instance.idle_time = Duration(from.shutdown_after_ns());
  TRY(read_list(from.schedules(), 2 * kMaxSchedules, "compute.schedules", &to->instance.schedules));
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "compute.labels", &to->labels));
  return read_settings(from.settings(), &to->settings);
}

void to_wire(const lockstep::SshHost& from, SshHost* to) {
  to->set_name(from.name);
  to->set_address(from.address);
  to->set_user(from.user);
  to->set_port(from.port);
  to->set_key(from.key);
  to->set_password_secret(from.password_secret);
  to->set_secret_owner(from.secret_owner);
  to->set_jump(from.jump);
  to->set_directory(from.directory);
}
Status from_wire(const SshHost& from, lockstep::SshHost* to) {
  TRY(read_text(from.name(), "host.name", &to->name, kMaxNameBytes));
  TRY(read_text(from.address(), "host.address", &to->address, kMaxNameBytes));
  TRY(read_text(from.user(), "host.user", &to->user, kMaxNameBytes));
  TRY(read_number(from.port(), 0, 65'535, "host.port", &to->port));
  TRY(read_text(from.key(), "host.key", &to->key));
  TRY(read_text(from.password_secret(), "host.password_secret", &to->password_secret));
  TRY(read_text(from.secret_owner(), "host.secret_owner", &to->secret_owner));
  TRY(read_text(from.jump(), "host.jump", &to->jump, kMaxNameBytes));
  return read_text(from.directory(), "host.directory", &to->directory);
}

void to_wire(const lockstep::MachineView& from, MachineView* to) {
  to->set_name(from.name);
  to->set_state(from.state);
  to->set_why(fitting_text(from.why));
  to->set_since_ns(from.since.ns);
  to->set_step(from.step);
  to->set_node(from.node);
  write_map(from.about, to->mutable_about());
  to->set_failed_step(from.failed_step);
  to->set_failed_code(from.failed_code);
  to->set_failure(fitting_text(from.failure));
  to->set_failures(from.failures);
  to->set_retry_at_ns(from.retry_at.ns);
  if (from.why_data) to_wire(from.why_data, to->mutable_why_data());
  if (from.failure_data) to_wire(from.failure_data, to->mutable_failure_data());
  if (from.waits_data) to_wire(from.waits_data, to->mutable_waits_data());
}
Status from_wire(const MachineView& from, lockstep::MachineView* to) {
  TRY(read_text(from.name(), "machine.name", &to->name, kMaxNameBytes));
  TRY(read_text(from.state(), "machine.state", &to->state, kMaxNameBytes));
  TRY(read_text(from.why(), "machine.why", &to->why));
  TRY(read_instant(from.since_ns(), "machine.since", &to->since));
  TRY(read_text(from.step(), "machine.step", &to->step));
  TRY(read_text(from.node(), "machine.node", &to->node, kMaxNameBytes));
  TRY(read_map(from.about(), 2 * kMaxMachineFindings, "machine.about", &to->about));
  TRY(read_text(from.failed_step(), "machine.failed_step", &to->failed_step));
  TRY(read_text(from.failed_code(), "machine.failed_code", &to->failed_code));
  TRY(read_text(from.failure(), "machine.failure", &to->failure));
  TRY(read_count(from.failures(), "machine.failures", &to->failures));
  TRY(from_wire(from.why_data(), &to->why_data));
  TRY(from_wire(from.failure_data(), &to->failure_data));
  TRY(from_wire(from.waits_data(), &to->waits_data));
  return read_instant(from.retry_at_ns(), "machine.retry_at", &to->retry_at);
}

void to_wire(const lockstep::ComputeEvent& from, ComputeEvent* to) {
  to->set_at_ns(from.at.ns);
  to->set_machine(from.machine);
  to->set_text(fitting_text(from.text));
  if (from.why_data) to_wire(from.why_data, to->mutable_why_data());
}
Status from_wire(const ComputeEvent& from, lockstep::ComputeEvent* to) {
  TRY(read_instant(from.at_ns(), "event.at", &to->at));
  TRY(read_text(from.machine(), "event.machine", &to->machine, kMaxNameBytes));
  TRY(from_wire(from.why_data(), &to->why_data));
  return read_text(from.text(), "event.text", &to->text);
}

void to_wire(const lockstep::ComputeView& from, ComputeView* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_pool(from.pool);
  to->set_created_ns(from.created.ns);
  to->set_created_by(from.created_by);
  write_nodes(from.nodes, to->mutable_nodes());
  to->set_queued_jobs(from.queued_jobs);
  to->set_running_jobs(from.running_jobs);
  write_list(from.machines, to->mutable_machines());
  to->set_leaving(from.leaving);
  write_list(from.history, to->mutable_history());
  write_scaling(from.scaling, to->mutable_scaling());
  to_wire(from.instance, to->mutable_instance());
  if (from.leaving_data) to_wire(from.leaving_data, to->mutable_leaving_data());
}
Status from_wire(const ComputeView& from, lockstep::ComputeView* to) {
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_text(from.pool(), "compute.pool", &to->pool, kMaxNameBytes));
  TRY(read_instant(from.created_ns(), "compute.created", &to->created));
  TRY(read_text(from.created_by(), "compute.created_by", &to->created_by));
  TRY(read_nodes(from.nodes(), &to->nodes));
  TRY(read_count(from.queued_jobs(), "compute.queued_jobs", &to->queued_jobs));
  TRY(read_count(from.running_jobs(), "compute.running_jobs", &to->running_jobs));
  TRY(read_list(from.machines(), 2 * kMaxInstances, "compute.machines", &to->machines));
  TRY(read_text(from.leaving(), "compute.leaving", &to->leaving));
  TRY(read_list(from.history(), 2 * kMaxComputeEvents, "compute.history", &to->history));
  TRY(from_wire(from.instance(), &to->instance));
  TRY(from_wire(from.leaving_data(), &to->leaving_data));
  return read_scaling(from.scaling(), &to->scaling);
}

void to_wire(const lockstep::CreateCompute& from, CreateCompute* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_check(from.check);
}
Status from_wire(const CreateCompute& from, lockstep::CreateCompute* to) {
  to->check = from.check();
  return from_wire(from.spec(), &to->spec);
}
void to_wire(const lockstep::UpdateCompute& from, UpdateCompute* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_upgrade(from.upgrade);
  to->set_check(from.check);
}
Status from_wire(const UpdateCompute& from, lockstep::UpdateCompute* to) {
  to->upgrade = from.upgrade();
  to->check = from.check();
  return from_wire(from.spec(), &to->spec);
}
void to_wire(const lockstep::AttachHosts& from, AttachHosts* to) {
  to->set_name(from.name);
  write_list(from.hosts, to->mutable_hosts());
}
Status from_wire(const AttachHosts& from, lockstep::AttachHosts* to) {
  TRY(read_text(from.name(), "compute", &to->name, kMaxNameBytes));
  return read_list(from.hosts(), 2 * kMaxHosts, "hosts", &to->hosts);
}
void to_wire(const lockstep::DetachHosts& from, DetachHosts* to) {
  to->set_name(from.name);
  write_texts(from.hosts, to->mutable_hosts());
  to->set_force(from.force);
}
Status from_wire(const DetachHosts& from, lockstep::DetachHosts* to) {
  TRY(read_text(from.name(), "compute", &to->name, kMaxNameBytes));
  TRY(read_texts(from.hosts(), 2 * kMaxHosts, "hosts", &to->hosts));
  to->force = from.force();
  return {};
}
void to_wire(const lockstep::DeleteCompute& from, DeleteCompute* to) {
  to->set_name(from.name);
  to->set_force(from.force);
}
Status from_wire(const DeleteCompute& from, lockstep::DeleteCompute* to) {
  to->force = from.force();
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::StartCompute& from, StartCompute* to) { to->set_name(from.name); }
Status from_wire(const StartCompute& from, lockstep::StartCompute* to) {
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::StopCompute& from, StopCompute* to) {
  to->set_name(from.name);
  to->set_force(from.force);
}
Status from_wire(const StopCompute& from, lockstep::StopCompute* to) {
  to->force = from.force();
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::RestartCompute& from, RestartCompute* to) {
  to->set_name(from.name);
  to->set_force(from.force);
}
Status from_wire(const RestartCompute& from, lockstep::RestartCompute* to) {
  to->force = from.force();
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::ListComputes& from, ListComputes* to) {
  to->set_name(from.name);
  to->set_history(from.history);
}
Status from_wire(const ListComputes& from, lockstep::ListComputes* to) {
  to->history = from.history();
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::ComputesReply& from, ComputesReply* to) {
  write_list(from.computes, to->mutable_computes());
}
Status from_wire(const ComputesReply& from, lockstep::ComputesReply* to) {
  return read_list(from.computes(), kMaxComputes + 1, "computes", &to->computes);
}
void to_wire(const lockstep::ReadComputeLog& from, ReadComputeLog* to) {
  to->set_name(from.name);
  to->set_lines(from.lines);
}
Status from_wire(const ReadComputeLog& from, lockstep::ReadComputeLog* to) {
  TRY(read_text(from.name(), "compute", &to->name, kMaxNameBytes));
  return read_count(from.lines(), "lines", &to->lines);
}
void to_wire(const lockstep::ComputeLogReply& from, ComputeLogReply* to) {
  to->set_text(from.text);
}
Status from_wire(const ComputeLogReply& from, lockstep::ComputeLogReply* to) {
  return read_text(from.text(), "log", &to->text, 2 * kMaxComputeLogBytes);
}

}  // namespace lockstep::pb
