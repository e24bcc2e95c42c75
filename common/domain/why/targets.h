#pragma once
// What happened to compute targets, and why compute instances are on or off.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/schedule.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct RecurrenceTimes {  // as Recurrence
  Frequency frequency = Frequency::day;
  int interval = 1;
  std::vector<int> hours, minutes, week_days, month_days;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("frequency", self.frequency);
    see("interval", self.interval);
    see("hours", self.hours);
    see("minutes", self.minutes);
    see("week_days", self.week_days);
    see("month_days", self.month_days);
  }
  friend bool operator==(const RecurrenceTimes&, const RecurrenceTimes&) = default;
};

struct ScheduleTimes {  // as Trigger
  std::optional<std::string> cron;
  std::optional<RecurrenceTimes> recurrence;  // if not by cron
  std::string time_zone;                      // "": UTC
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("cron", self.cron);
    see("recurrence", self.recurrence);
    see("time_zone", self.time_zone);
  }
  friend bool operator==(const ScheduleTimes&, const ScheduleTimes&) = default;
};
ScheduleTimes times_of(const Trigger& trigger);
Trigger trigger_of(const ScheduleTimes& times);

// ---- why a compute instance is on or off --------------------------------------------------------

struct InstanceByUser {
  static constexpr std::string_view kCode = "instance_by_user";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const InstanceByUser&, const InstanceByUser&) = default;
};

struct InstanceBySchedule {
  static constexpr std::string_view kCode = "instance_by_schedule";
  ScheduleTimes schedule;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("schedule", self.schedule);
  }
  friend bool operator==(const InstanceBySchedule&, const InstanceBySchedule&) = default;
};

struct InstanceWasIdle {
  static constexpr std::string_view kCode = "instance_was_idle";
  Duration idle{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("idle", self.idle);
  }
  friend bool operator==(const InstanceWasIdle&, const InstanceWasIdle&) = default;
};

struct TimeZoneUnknown {  // to the launcher's machine
  static constexpr std::string_view kCode = "time_zone_unknown";
  std::string time_zone;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("time_zone", self.time_zone);
  }
  friend bool operator==(const TimeZoneUnknown&, const TimeZoneUnknown&) = default;
};

// ---- what happened to a target and its machines -------------------------------------------------

struct TargetWasCreated {
  static constexpr std::string_view kCode = "target_was_created";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const TargetWasCreated&, const TargetWasCreated&) = default;
};

struct TargetWasChanged {
  static constexpr std::string_view kCode = "target_was_changed";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const TargetWasChanged&, const TargetWasChanged&) = default;
};

struct TargetIsDeletedBy {
  static constexpr std::string_view kCode = "target_is_deleted_by";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const TargetIsDeletedBy&, const TargetIsDeletedBy&) = default;
};

struct TargetDeletedBy {  // why it leaves
  static constexpr std::string_view kCode = "target_deleted_by";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const TargetDeletedBy&, const TargetDeletedBy&) = default;
};

struct InstanceStartedSo {
  static constexpr std::string_view kCode = "instance_started";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const InstanceStartedSo&, const InstanceStartedSo&) = default;
};

struct InstanceStoppedSo {
  static constexpr std::string_view kCode = "instance_stopped";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const InstanceStoppedSo&, const InstanceStoppedSo&) = default;
};

struct MachineWasWanted {
  static constexpr std::string_view kCode = "machine_was_wanted";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineWasWanted&, const MachineWasWanted&) = default;
};

struct MachineWasFound {  // by its tag, and leaves
  static constexpr std::string_view kCode = "machine_was_found";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineWasFound&, const MachineWasFound&) = default;
};

struct MachineWasCreated {
  static constexpr std::string_view kCode = "machine_was_created";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineWasCreated&, const MachineWasCreated&) = default;
};

struct MachineHasFailed {
  static constexpr std::string_view kCode = "machine_has_failed";
  Why why;  // MachineStepFailed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineHasFailed&, const MachineHasFailed&) = default;
};

struct MachineLeavesSo {
  static constexpr std::string_view kCode = "machine_leaves";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineLeavesSo&, const MachineLeavesSo&) = default;
};

struct MachineWentAway {
  static constexpr std::string_view kCode = "machine_went_away";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const MachineWentAway&, const MachineWentAway&) = default;
};

struct MachineHasJoined {
  static constexpr std::string_view kCode = "machine_has_joined";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineHasJoined&, const MachineHasJoined&) = default;
};

struct MachineNodeRemoved {
  static constexpr std::string_view kCode = "machine_node_removed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineNodeRemoved&, const MachineNodeRemoved&) = default;
};

using TargetReasons =
    List<InstanceByUser, InstanceBySchedule, InstanceWasIdle, TimeZoneUnknown, TargetWasCreated,
         TargetWasChanged, TargetIsDeletedBy, TargetDeletedBy, InstanceStartedSo, InstanceStoppedSo,
         MachineWasWanted, MachineWasFound, MachineWasCreated, MachineHasFailed, MachineLeavesSo,
         MachineWentAway, MachineHasJoined, MachineNodeRemoved>;

}  // namespace lockstep
