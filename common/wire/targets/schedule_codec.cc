#include "common/wire/targets/schedule_codec.h"

#include "common/domain/targets/cron.h"
#include "common/wire/table_codec.h"
#include "proto/compute.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::InstanceView, InstanceView);

// Writes a schedule. Without a recurrence it is cron's, whose expression may be empty.
void to_wire(const lockstep::InstanceSchedule& from, InstanceSchedule* to) {
  write_table(from, to);
  if (const auto* cron = std::get_if<CronTrigger>(&from.trigger.when))
    to->set_cron(cron->expression);
  if (const auto* recurrence = std::get_if<lockstep::Recurrence>(&from.trigger.when))
    to_wire(*recurrence, to->mutable_recurrence());
}
Status from_wire(const InstanceSchedule& from, lockstep::InstanceSchedule* to) {
  TRY(read_table(from, to));
  if (from.has_recurrence())
    return from_wire(from.recurrence(), &to->trigger.when.emplace<lockstep::Recurrence>());
  return read_text(from.cron(), "instance_schedule.cron",
                   &to->trigger.when.emplace<CronTrigger>().expression, 2 * kMaxCronBytes);
}

}  // namespace lockstep::pb
