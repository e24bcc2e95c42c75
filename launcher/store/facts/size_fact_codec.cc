#include "launcher/store/facts/size_fact_codec.h"

#include "common/wire/targets/size_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::SizeDefined& from, SizeDefined* to) {
  to_wire(from.size, to->mutable_size());
  to->set_by(from.by);
}
Status from_wire(const SizeDefined& from, launcher::SizeDefined* to) {
  TRY(from_wire(from.size(), &to->size));
  return read_text(from.by(), "size.by", &to->by);
}

void to_wire(const launcher::SizeRemoved& from, SizeRemoved* to) {
  to->set_name(from.name);
  to->set_by(from.by);
}
Status from_wire(const SizeRemoved& from, launcher::SizeRemoved* to) {
  TRY(read_text(from.name(), "size.name", &to->name));
  return read_text(from.by(), "size.by", &to->by);
}

void to_wire(const launcher::SizeGranted& from, SizeGranted* to) {
  to->set_name(from.name);
  to->set_machines(from.machines);
  to->set_by(from.by);
}
Status from_wire(const SizeGranted& from, launcher::SizeGranted* to) {
  TRY(read_text(from.name(), "size.name", &to->name));
  TRY(read_number(from.machines(), 0, kMaxGrantedMachines, "size.machines", &to->machines));
  return read_text(from.by(), "size.by", &to->by);
}

void to_wire(const launcher::NodeLabelsChanged& from, NodeLabelsChanged* to) {
  to->set_node(from.node.value);
  write_map(from.labels, to->mutable_labels());
  to->set_by(from.by);
}
Status from_wire(const NodeLabelsChanged& from, launcher::NodeLabelsChanged* to) {
  to->node = NodeId(from.node());
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "labels", &to->labels));
  return read_text(from.by(), "labels.by", &to->by);
}

void to_wire(const launcher::NodeNoticed& from, NodeNoticed* to) {
  to->set_node(from.node.value);
  to->set_until_ns(from.until.ns);
  if (from.why) to_wire(from.why, to->mutable_why_data());
}
Status from_wire(const NodeNoticed& from, launcher::NodeNoticed* to) {
  to->node = NodeId(from.node());
  TRY(read_instant(from.until_ns(), "notice.until", &to->until));
  return read_why(from.reason(), from.has_why_data(), from.why_data(), "notice.reason", &to->why);
}

}  // namespace lockstep::pb
