#pragma once
// Why a call of a provider failed for a machine.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/fields.h"
#include "common/base/time.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct MachineStepFailed {
  static constexpr std::string_view kCode = "machine_step_failed";
  std::string step;
  MachineFault fault = MachineFault::failed;
  Why why;
  LOCKSTEP_FIELDS(MachineStepFailed, step, fault, why);
};

struct ProviderSaid {  // The reason in the provider's own words.
  static constexpr std::string_view kCode = "provider_said";
  std::string said;
  LOCKSTEP_FIELDS(ProviderSaid, said);
};

struct MachineNotJoined {  // The provider reports that the machine runs.
  static constexpr std::string_view kCode = "machine_not_joined";
  LOCKSTEP_FIELDS(MachineNotJoined);
};

struct MachineNotJoinedWithin {
  static constexpr std::string_view kCode = "machine_not_joined_within";
  Duration within{0};
  LOCKSTEP_FIELDS(MachineNotJoinedWithin, within);
};

struct MachineAgentDown {  // the machine is there, and its agent does not run
  static constexpr std::string_view kCode = "machine_agent_down";
  LOCKSTEP_FIELDS(MachineAgentDown);
};

struct PasswordNotSet {
  static constexpr std::string_view kCode = "password_not_set";
  std::string secret;
  std::string owner;
  LOCKSTEP_FIELDS(PasswordNotSet, secret, owner);
};

struct PasswordUnusable {
  static constexpr std::string_view kCode = "password_unusable";
  std::string secret;
  std::string owner;
  Why why;
  LOCKSTEP_FIELDS(PasswordUnusable, secret, owner, why);
};

struct HostUnknown {
  static constexpr std::string_view kCode = "host_unknown";
  std::string target;
  std::string host;
  LOCKSTEP_FIELDS(HostUnknown, target, host);
};

struct TargetUnknown {
  static constexpr std::string_view kCode = "target_unknown";
  std::string target;
  LOCKSTEP_FIELDS(TargetUnknown, target);
};

struct MachinesNotWanted {  // The machines are not wanted any more, so the call was stopped.
  static constexpr std::string_view kCode = "machines_not_wanted";
  LOCKSTEP_FIELDS(MachinesNotWanted);
};

struct NoMachineToWorkOn {  // Each machine of the call was refused.
  static constexpr std::string_view kCode = "no_machine_to_work_on";
  LOCKSTEP_FIELDS(NoMachineToWorkOn);
};

struct ProviderTooSlow {
  static constexpr std::string_view kCode = "provider_too_slow";
  Duration limit{0};
  LOCKSTEP_FIELDS(ProviderTooSlow, limit);
};

struct ProviderPrintedTooMuch {
  static constexpr std::string_view kCode = "provider_printed_too_much";
  std::int64_t lines = 0;  // the most lines
  LOCKSTEP_FIELDS(ProviderPrintedTooMuch, lines);
};

struct ProviderLineTooLong {
  static constexpr std::string_view kCode = "provider_line_too_long";
  std::int64_t bytes = 0;  // the most bytes
  LOCKSTEP_FIELDS(ProviderLineTooLong, bytes);
};

struct ProviderKilled {
  static constexpr std::string_view kCode = "provider_killed";
  int signal = 0;
  std::string name;  // the name of the signal
  LOCKSTEP_FIELDS(ProviderKilled, signal, name);
};

struct ProviderExited {
  static constexpr std::string_view kCode = "provider_exited";
  int exit_code = 0;
  std::string said;  // the last line of its errors
  LOCKSTEP_FIELDS(ProviderExited, exit_code, said);
};

struct ProviderSaidNothing {  // The provider said nothing about the machine.
  static constexpr std::string_view kCode = "provider_said_nothing";
  LOCKSTEP_FIELDS(ProviderSaidNothing);
};

struct ProviderNotUnderstood {  // Lines that the provider printed were not understood.
  static constexpr std::string_view kCode = "provider_not_understood";
  std::string target;
  Why why;  // how the process ended
  LOCKSTEP_FIELDS(ProviderNotUnderstood, target, why);
};

using ProviderReasons =
    List<MachineStepFailed, ProviderSaid, MachineNotJoined, MachineNotJoinedWithin,
         MachineAgentDown, PasswordNotSet, PasswordUnusable, HostUnknown, TargetUnknown,
         MachinesNotWanted, NoMachineToWorkOn, ProviderTooSlow, ProviderPrintedTooMuch,
         ProviderLineTooLong, ProviderKilled, ProviderExited, ProviderSaidNothing,
         ProviderNotUnderstood>;

}  // namespace lockstep
