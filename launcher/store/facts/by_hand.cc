#include "launcher/store/facts/by_hand.h"

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/node_codec.h"
#include "launcher/state/old_facts.h"
#include "proto/journal.access.h"

namespace lockstep::pb {

// The text of an earlier version is in its reason.
static void forget_told(const ExitReport& from, lockstep::ExitReport* to) {
  if (!from.has_why_data()) to->message.clear();
  for (int i = 0; i < from.also_size(); ++i)
    if (!from.also(i).has_why_data()) to->also[static_cast<std::size_t>(i)].message.clear();
}

void to_wire(const launcher::NodeRevised& from, NodeRevised* to) { write_table(from, to); }
Status from_wire(const NodeRevised& from, launcher::NodeRevised* to) {
  TRY(read_table(from, to));
  for (int i = 0; i < from.history_size(); ++i)
    if (!from.history(i).has_why_data()) to->history[static_cast<std::size_t>(i)].message.clear();
  return {};
}

void to_wire(const launcher::AttemptDoomed& from, AttemptDoomed* to) { write_table(from, to); }
Status from_wire(const AttemptDoomed& from, launcher::AttemptDoomed* to) {
  TRY(read_table(from, to));
  forget_told(from.report(), &to->report);
  return {};
}

void to_wire(const launcher::AttemptEnded& from, AttemptEnded* to) { write_table(from, to); }
Status from_wire(const AttemptEnded& from, launcher::AttemptEnded* to) {
  TRY(read_table(from, to));
  forget_told(from.report(), &to->report);
  return {};
}

void to_wire(const launcher::JobFinished& from, JobFinished* to) { write_table(from, to); }
Status from_wire(const JobFinished& from, launcher::JobFinished* to) {
  TRY(read_table(from, to));
  forget_told(from.report(), &to->report);
  return {};
}

void to_wire(const launcher::FoundChanged& from, FoundChanged* to) {
  write_table(from, to);
  write_found(from.found, to->mutable_found());
}
Status from_wire(const FoundChanged& from, launcher::FoundChanged* to) {
  TRY(read_table(from, to));
  return read_found(from.found(), &to->found);
}

void to_wire(const launcher::MachineCreated& from, MachineCreated* to) { write_table(from, to); }
Status from_wire(const MachineCreated& from, launcher::MachineCreated* to) {
  TRY(read_table(from, to));
  if (!from.has_is_held()) to->is_held = launcher::was_held(to->about);
  return {};
}

}  // namespace lockstep::pb
