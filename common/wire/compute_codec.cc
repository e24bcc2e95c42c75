#include "common/wire/compute_codec.h"

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
  }
  return 0;
}

Status read_type(int number, ComputeType* to) {
  for (const ComputeType type : {ComputeType::local, ComputeType::virtualmachine}) {
    if (number_of(type) != number) continue;
    *to = type;
    return {};
  }
  return bad_field("compute.type", "has a value that this version does not know");
}

Status read_count(std::int64_t from, const char* field, std::int64_t* to) {
  if (from < 0) return bad_field(field, "is negative");
  *to = from;
  return {};
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
}
Status from_wire(const ComputeSpec& from, lockstep::ComputeSpec* to) {
  TRY(read_text(from.name(), "compute.name", &to->name, kMaxNameBytes));
  TRY(read_type(from.type(), &to->type));
  TRY(read_text(from.description(), "compute.description", &to->description));
  TRY(read_text(from.location(), "compute.location", &to->location));
  return read_map(from.tags(), 10 * kMaxComputeTags, "compute.tags", &to->tags);
}

void to_wire(const lockstep::ComputeView& from, ComputeView* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_pool(from.pool);
  to->set_created_ns(from.created.ns);
  to->set_created_by(from.created_by);
  write_nodes(from.nodes, to->mutable_nodes());
  to->set_queued_jobs(from.queued_jobs);
  to->set_running_jobs(from.running_jobs);
}
Status from_wire(const ComputeView& from, lockstep::ComputeView* to) {
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_text(from.pool(), "compute.pool", &to->pool, kMaxNameBytes));
  TRY(read_instant(from.created_ns(), "compute.created", &to->created));
  TRY(read_text(from.created_by(), "compute.created_by", &to->created_by));
  TRY(read_nodes(from.nodes(), &to->nodes));
  TRY(read_count(from.queued_jobs(), "compute.queued_jobs", &to->queued_jobs));
  return read_count(from.running_jobs(), "compute.running_jobs", &to->running_jobs);
}

void to_wire(const lockstep::CreateCompute& from, CreateCompute* to) {
  to_wire(from.spec, to->mutable_spec());
}
Status from_wire(const CreateCompute& from, lockstep::CreateCompute* to) {
  return from_wire(from.spec(), &to->spec);
}
void to_wire(const lockstep::UpdateCompute& from, UpdateCompute* to) {
  to_wire(from.spec, to->mutable_spec());
}
Status from_wire(const UpdateCompute& from, lockstep::UpdateCompute* to) {
  return from_wire(from.spec(), &to->spec);
}
void to_wire(const lockstep::DeleteCompute& from, DeleteCompute* to) { to->set_name(from.name); }
Status from_wire(const DeleteCompute& from, lockstep::DeleteCompute* to) {
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::ListComputes& from, ListComputes* to) { to->set_name(from.name); }
Status from_wire(const ListComputes& from, lockstep::ListComputes* to) {
  return read_text(from.name(), "compute", &to->name, kMaxNameBytes);
}
void to_wire(const lockstep::ComputesReply& from, ComputesReply* to) {
  write_list(from.computes, to->mutable_computes());
}
Status from_wire(const ComputesReply& from, lockstep::ComputesReply* to) {
  return read_list(from.computes(), kMaxComputes + 1, "computes", &to->computes);
}

}  // namespace lockstep::pb
