#include "common/wire/targets/size_codec.h"

#include <cmath>

#include "common/domain/targets/compute.h"

namespace lockstep::pb {

namespace {

// Longer than any valid name. The launcher answers a request for an invalid name with "there is no
// such size" instead of dropping the message.
constexpr std::size_t kMaxSizeNameOnWire = 1'024;

Status read_price(double from, std::optional<double>* to) {
  if (!std::isfinite(from)) return bad_field("size.price_per_hour", "is not a number");
  *to = from;
  return {};
}

}  // namespace

void to_wire(const lockstep::SizeSeries& from, SizeSeries* to) {
  to->set_name(from.name);
  to->set_category(from.category);
  to->set_needs_approval(from.needs_approval);
  to->set_for_clusters(from.for_clusters);
  to->set_for_instances(from.for_instances);
}
Status from_wire(const SizeSeries& from, lockstep::SizeSeries* to) {
  TRY(read_text(from.name(), "series.name", &to->name, kMaxSizeNameOnWire));
  TRY(read_text(from.category(), "series.category", &to->category, kMaxSizeNameOnWire));
  to->needs_approval = from.needs_approval();
  to->for_clusters = from.for_clusters();
  to->for_instances = from.for_instances();
  return {};
}

void to_wire(const lockstep::Size& from, Size* to) {
  to->set_name(from.name);
  to->set_series(from.series);
  to->set_category(from.category);
  to->set_vcpus(from.vcpus);
  to->set_memory_bytes(from.memory.count);
  to->set_gpus(from.gpus);
  to->set_gpu_name(from.gpu_name);
  to->set_gpu_memory_bytes(from.gpu_memory.count);
  to->set_ib_gbps(from.ib_gbps);
  to->set_rdma(from.rdma);
  to->set_isolated(from.isolated);
  to->set_needs_approval(from.needs_approval);
  to->set_for_clusters(from.for_clusters);
  to->set_for_instances(from.for_instances);
  if (from.price_per_hour) to->set_price_per_hour(*from.price_per_hour);
  to->set_max_mpi_nodes(from.max_mpi_nodes);
}
Status from_wire(const Size& from, lockstep::Size* to) {
  constexpr int kMost = 1 << 30;  // the launcher says what is too much
  TRY(read_text(from.name(), "size.name", &to->name, kMaxSizeNameOnWire));
  TRY(read_text(from.series(), "size.series", &to->series, kMaxSizeNameOnWire));
  TRY(read_text(from.category(), "size.category", &to->category, kMaxSizeNameOnWire));
  TRY(read_number(from.vcpus(), 0, kMost, "size.vcpus", &to->vcpus));
  to->memory = Bytes{from.memory_bytes()};
  TRY(read_number(from.gpus(), 0, kMost, "size.gpus", &to->gpus));
  TRY(read_text(from.gpu_name(), "size.gpu_name", &to->gpu_name, kMaxSizeNameOnWire));
  to->gpu_memory = Bytes{from.gpu_memory_bytes()};
  TRY(read_number(from.ib_gbps(), 0, kMost, "size.ib_gbps", &to->ib_gbps));
  to->rdma = from.rdma();
  to->isolated = from.isolated();
  to->needs_approval = from.needs_approval();
  to->for_clusters = from.for_clusters();
  to->for_instances = from.for_instances();
  if (from.has_price_per_hour()) TRY(read_price(from.price_per_hour(), &to->price_per_hour));
  return read_number(from.max_mpi_nodes(), 0, kMost, "size.max_mpi_nodes", &to->max_mpi_nodes);
}

void to_wire(const lockstep::SizeView& from, SizeView* to) {
  to_wire(from.size, to->mutable_size());
  to->set_is_own(from.is_own);
  if (from.quota) to->set_quota(*from.quota);
  to->set_used(from.used);
  write_texts(from.targets, to->mutable_targets());
}
Status from_wire(const SizeView& from, lockstep::SizeView* to) {
  constexpr int kMost = 1 << 30;
  TRY(from_wire(from.size(), &to->size));
  to->is_own = from.is_own();
  if (from.has_quota()) TRY(read_number(from.quota(), 0, kMost, "quota", &to->quota.emplace()));
  TRY(read_number(from.used(), 0, kMost, "used", &to->used));
  return read_texts(from.targets(), kMaxComputes, "targets", &to->targets);
}

void to_wire(const lockstep::DefineSizes& from, DefineSizes* to) {
  write_list(from.sizes, to->mutable_sizes());
}
Status from_wire(const DefineSizes& from, lockstep::DefineSizes* to) {
  return read_list(from.sizes(), kMaxSizesAtOnce, "sizes", &to->sizes);
}
void to_wire(const lockstep::RemoveSize& from, RemoveSize* to) { to->set_name(from.name); }
Status from_wire(const RemoveSize& from, lockstep::RemoveSize* to) {
  return read_text(from.name(), "size", &to->name, kMaxSizeNameOnWire);
}
void to_wire(const lockstep::GrantSize& from, GrantSize* to) {
  to->set_name(from.name);
  to->set_machines(from.machines);
}
Status from_wire(const GrantSize& from, lockstep::GrantSize* to) {
  TRY(read_number(from.machines(), 0, kMaxGrantedMachines, "machines", &to->machines));
  return read_text(from.name(), "size", &to->name, kMaxSizeNameOnWire);
}
void to_wire(const lockstep::ListSizes& from, ListSizes* to) { to->set_name(from.name); }
Status from_wire(const ListSizes& from, lockstep::ListSizes* to) {
  return read_text(from.name(), "size", &to->name, kMaxSizeNameOnWire);
}
void to_wire(const lockstep::SizesReply& from, SizesReply* to) {
  write_list(from.sizes, to->mutable_sizes());
  write_list(from.series, to->mutable_series());
}
Status from_wire(const SizesReply& from, lockstep::SizesReply* to) {
  TRY(read_list(from.sizes(), 2 * kMaxSizes, "sizes", &to->sizes));
  return read_list(from.series(), kMaxSizes, "series", &to->series);
}

}  // namespace lockstep::pb
