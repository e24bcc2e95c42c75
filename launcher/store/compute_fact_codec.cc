#include "launcher/store/compute_fact_codec.h"

#include "common/wire/compute_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::ComputeCreated& from, ComputeChanged* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_by(from.by);
}
Status from_wire(const ComputeChanged& from, launcher::ComputeCreated* to) {
  TRY(from_wire(from.spec(), &to->spec));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::ComputeUpdated& from, ComputeChanged* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_by(from.by);
}
Status from_wire(const ComputeChanged& from, launcher::ComputeUpdated* to) {
  TRY(from_wire(from.spec(), &to->spec));
  return read_text(from.by(), "by", &to->by);
}

void to_wire(const launcher::ComputeDeleted& from, ComputeDeleted* to) {
  to->set_name(from.name);
  to->set_by(from.by);
}
Status from_wire(const ComputeDeleted& from, launcher::ComputeDeleted* to) {
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.by(), "by", &to->by);
}

}  // namespace lockstep::pb
