#include "launcher/store/facts/compute_fact_codec.h"

#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/schedule_codec.h"
#include "common/wire/why_codec.h"
#include "launcher/state/old_facts.h"

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

void to_wire(const launcher::ComputeLeaving& from, ComputeLeaving* to) {
  to->set_name(from.name);
  to->set_by(from.by);
  to->set_force(from.force);
}
Status from_wire(const ComputeLeaving& from, launcher::ComputeLeaving* to) {
  to->force = from.force();
  TRY(read_text(from.name(), "name", &to->name));
  return read_text(from.by(), "by", &to->by);
}

namespace {

template <typename Domain, typename Wire>
void write_why_data(const Domain& from, Wire* to) {
  if (from.why) to_wire(from.why, to->mutable_why_data());
}
template <typename Wire, typename Domain>
Status read_reason(const Wire& from, const char* field, Domain* to) {
  return read_why(from.why(), from.has_why_data(), from.why_data(), field, &to->why);
}

template <typename Domain>
void write_change(const Domain& from, InstanceChanged* to) {
  to->set_target(from.target);
  to->set_cause(describe(from.cause).number);
  write_why_data(from, to);
}
template <typename Domain>
Status read_change(const InstanceChanged& from, Domain* to) {
  TRY(read_text(from.target(), "instance.target", &to->target));
  TRY(read_word(from.cause(), "instance.cause", &to->cause));
  return read_reason(from, "instance.why", to);
}

}  // namespace

void to_wire(const launcher::InstanceStarted& from, InstanceChanged* to) { write_change(from, to); }
Status from_wire(const InstanceChanged& from, launcher::InstanceStarted* to) {
  return read_change(from, to);
}
void to_wire(const launcher::InstanceStopped& from, InstanceChanged* to) { write_change(from, to); }
Status from_wire(const InstanceChanged& from, launcher::InstanceStopped* to) {
  return read_change(from, to);
}

namespace {

// The names that every fact of a machine has.
template <typename Domain, typename Wire>
void write_machine(const Domain& from, Wire* to) {
  to->set_target(from.target);
  to->set_machine(from.machine);
}
template <typename Wire, typename Domain>
Status read_machine(const Wire& from, Domain* to) {
  TRY(read_text(from.target(), "machine.target", &to->target));
  return read_text(from.machine(), "machine.name", &to->machine);
}

}  // namespace

void to_wire(const launcher::MachineWanted& from, MachineWanted* to) {
  write_machine(from, to);
  write_why_data(from, to);
}
Status from_wire(const MachineWanted& from, launcher::MachineWanted* to) {
  TRY(read_machine(from, to));
  return read_reason(from, "machine.why", to);
}

void to_wire(const launcher::MachineFound& from, MachineFound* to) { write_machine(from, to); }
Status from_wire(const MachineFound& from, launcher::MachineFound* to) {
  return read_machine(from, to);
}
void to_wire(const launcher::MachineCreated& from, MachineCreated* to) {
  write_machine(from, to);
  write_map(from.about, to->mutable_about());
  to->set_lifetime_ns(from.lifetime.count());
  to->set_ends_ns(from.ends.ns);
  to->set_is_held(from.is_held);
}
Status from_wire(const MachineCreated& from, launcher::MachineCreated* to) {
  TRY(read_machine(from, to));
  TRY(read_duration(from.lifetime_ns(), "machine.lifetime", &to->lifetime));
  TRY(read_instant(from.ends_ns(), "machine.ends", &to->ends));
  TRY(read_map(from.about(), 2 * kMaxMachineFindings, "machine.about", &to->about));
  to->is_held = from.has_is_held() ? from.is_held() : launcher::was_held(to->about);
  return {};
}

void to_wire(const launcher::MachineFailed& from, MachineFailed* to) {
  write_machine(from, to);
  to->set_step(fitting_text(from.step));
  to->set_code(std::string(to_string(from.fault)));
  write_why_data(from, to);
  to->set_not_before_ns(from.not_before.ns);
  to->set_removing(from.removing);
}
Status from_wire(const MachineFailed& from, launcher::MachineFailed* to) {
  to->removing = from.removing();
  TRY(read_machine(from, to));
  TRY(read_text(from.step(), "machine.step", &to->step));
  to->fault = machine_fault_from(from.code()).value_or(MachineFault::failed);
  TRY(read_why(from.message(), from.has_why_data(), from.why_data(), "machine.message", &to->why));
  return read_instant(from.not_before_ns(), "machine.not_before", &to->not_before);
}

void to_wire(const launcher::MachineLeaving& from, MachineLeaving* to) {
  write_machine(from, to);
  write_why_data(from, to);
  to->set_force(from.force);
}
Status from_wire(const MachineLeaving& from, launcher::MachineLeaving* to) {
  to->force = from.force();
  TRY(read_machine(from, to));
  return read_reason(from, "machine.why", to);
}

void to_wire(const launcher::MachineGone& from, MachineGone* to) {
  write_machine(from, to);
  write_why_data(from, to);
}
Status from_wire(const MachineGone& from, launcher::MachineGone* to) {
  TRY(read_machine(from, to));
  return read_reason(from, "machine.why", to);
}

}  // namespace lockstep::pb
