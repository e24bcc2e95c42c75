#pragma once
// The events of compute targets, and why compute instances are on or off.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/fields.h"
#include "common/base/time.h"
#include "common/domain/targets/schedule.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct RecurrenceTimes {  // The same fields as Recurrence.
  Frequency frequency = Frequency::day;
  int interval = 1;
  std::vector<int> hours, minutes, week_days, month_days;
  LOCKSTEP_FIELDS(RecurrenceTimes, frequency, interval, hours, minutes, week_days, month_days);
};

struct ScheduleTimes {  // The same fields as Trigger.
  std::optional<std::string> cron;
  std::optional<RecurrenceTimes> recurrence;  // set if the schedule is not cron
  std::string time_zone;                      // "": UTC
  LOCKSTEP_FIELDS(ScheduleTimes, cron, recurrence, time_zone);
};
ScheduleTimes times_of(const Trigger& trigger);
Trigger trigger_of(const ScheduleTimes& times);

// ---- why a compute instance is on or off --------------------------------------------------------

struct InstanceByUser {
  static constexpr std::string_view kCode = "instance_by_user";
  std::string by;
  LOCKSTEP_FIELDS(InstanceByUser, by);
};

struct InstanceBySchedule {
  static constexpr std::string_view kCode = "instance_by_schedule";
  ScheduleTimes schedule;
  LOCKSTEP_FIELDS(InstanceBySchedule, schedule);
};

struct InstanceWasIdle {
  static constexpr std::string_view kCode = "instance_was_idle";
  Duration idle{0};
  LOCKSTEP_FIELDS(InstanceWasIdle, idle);
};

struct TimeZoneUnknown {  // The launcher's machine does not know the zone.
  static constexpr std::string_view kCode = "time_zone_unknown";
  std::string time_zone;
  LOCKSTEP_FIELDS(TimeZoneUnknown, time_zone);
};

// ---- what happened to a target and its machines -------------------------------------------------

struct TargetWasCreated {
  static constexpr std::string_view kCode = "target_was_created";
  std::string by;
  LOCKSTEP_FIELDS(TargetWasCreated, by);
};

struct TargetWasChanged {
  static constexpr std::string_view kCode = "target_was_changed";
  std::string by;
  LOCKSTEP_FIELDS(TargetWasChanged, by);
};

struct TargetIsDeletedBy {
  static constexpr std::string_view kCode = "target_is_deleted_by";
  std::string by;
  LOCKSTEP_FIELDS(TargetIsDeletedBy, by);
};

struct TargetDeletedBy {  // why it leaves
  static constexpr std::string_view kCode = "target_deleted_by";
  std::string by;
  LOCKSTEP_FIELDS(TargetDeletedBy, by);
};

struct InstanceStartedSo {
  static constexpr std::string_view kCode = "instance_started";
  Why why;
  LOCKSTEP_FIELDS(InstanceStartedSo, why);
};

struct InstanceStoppedSo {
  static constexpr std::string_view kCode = "instance_stopped";
  Why why;
  LOCKSTEP_FIELDS(InstanceStoppedSo, why);
};

struct MachineWasWanted {
  static constexpr std::string_view kCode = "machine_was_wanted";
  Why why;
  LOCKSTEP_FIELDS(MachineWasWanted, why);
};

struct MachineWasFound {  // A machine with the target's tag was found, and is removed.
  static constexpr std::string_view kCode = "machine_was_found";
  LOCKSTEP_FIELDS(MachineWasFound);
};

struct MachineWasCreated {
  static constexpr std::string_view kCode = "machine_was_created";
  LOCKSTEP_FIELDS(MachineWasCreated);
};

struct MachineHasFailed {
  static constexpr std::string_view kCode = "machine_has_failed";
  Why why;  // MachineStepFailed
  LOCKSTEP_FIELDS(MachineHasFailed, why);
};

struct MachineLeavesSo {
  static constexpr std::string_view kCode = "machine_leaves";
  Why why;
  LOCKSTEP_FIELDS(MachineLeavesSo, why);
};

struct MachineWentAway {
  static constexpr std::string_view kCode = "machine_went_away";
  Why why;
  LOCKSTEP_FIELDS(MachineWentAway, why);
};

struct MachineHasJoined {
  static constexpr std::string_view kCode = "machine_has_joined";
  LOCKSTEP_FIELDS(MachineHasJoined);
};

struct MachineNodeRemoved {
  static constexpr std::string_view kCode = "machine_node_removed";
  LOCKSTEP_FIELDS(MachineNodeRemoved);
};

using TargetReasons =
    List<InstanceByUser, InstanceBySchedule, InstanceWasIdle, TimeZoneUnknown, TargetWasCreated,
         TargetWasChanged, TargetIsDeletedBy, TargetDeletedBy, InstanceStartedSo, InstanceStoppedSo,
         MachineWasWanted, MachineWasFound, MachineWasCreated, MachineHasFailed, MachineLeavesSo,
         MachineWentAway, MachineHasJoined, MachineNodeRemoved>;

}  // namespace lockstep
