#include "launcher/words/nodes/say_targets.h"

#include <fmt/format.h>

#include "launcher/words/why.h"

namespace lockstep::words {

// ---- why a compute instance is on or off --------------------------------------------------------

std::string say(const InstanceByUser& reason) { return "by " + reason.by; }

std::string say(const InstanceBySchedule& reason) {
  return fmt::format("by its schedule ({})", to_string(trigger_of(reason.schedule)));
}

std::string say(const InstanceWasIdle& reason) {
  return fmt::format("after {} without work", format_duration(reason.idle));
}

std::string say(const TimeZoneUnknown& reason) {
  return fmt::format(
      "the launcher's machine does not know time zone '{}', so the schedules with it do nothing; "
      "install tzdata there",
      reason.time_zone);
}

// ---- what happened to a target and its machines -------------------------------------------------

std::string say(const TargetWasCreated& reason) { return "created by " + reason.by; }
std::string say(const TargetWasChanged& reason) { return "changed by " + reason.by; }
std::string say(const TargetIsDeletedBy& reason) { return "is being deleted by " + reason.by; }
std::string say(const TargetDeletedBy& reason) { return "deleted by " + reason.by; }

std::string say(const InstanceStartedSo& reason) { return "started " + text_of(reason.why); }
std::string say(const InstanceStoppedSo& reason) { return "stopped " + text_of(reason.why); }

std::string say(const MachineWasWanted& reason) { return "wanted: " + text_of(reason.why); }

std::string say(const MachineWasFound&) {
  return "found by its tag, leaves: the launcher did not know it";
}

std::string say(const MachineWasCreated&) { return "created"; }
std::string say(const MachineHasFailed& reason) { return "failed: " + text_of(reason.why); }
std::string say(const MachineLeavesSo& reason) { return "leaves: " + text_of(reason.why); }
std::string say(const MachineWentAway& reason) { return "gone: " + text_of(reason.why); }
std::string say(const MachineHasJoined&) { return "its agent joined"; }
std::string say(const MachineNodeRemoved&) { return "its node was removed"; }

}  // namespace lockstep::words
