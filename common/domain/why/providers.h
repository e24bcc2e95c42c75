#pragma once
// Why a call of a provider failed for a machine.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/machine_fault.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct MachineStepFailed {
  static constexpr std::string_view kCode = "machine_step_failed";
  std::string step;
  MachineFault fault = MachineFault::failed;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("fault", self.fault);
    see("why", self.why);
  }
  friend bool operator==(const MachineStepFailed&, const MachineStepFailed&) = default;
};

struct ProviderSaid {  // in its own words
  static constexpr std::string_view kCode = "provider_said";
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const ProviderSaid&, const ProviderSaid&) = default;
};

struct MachineNotJoined {  // the provider says that it runs
  static constexpr std::string_view kCode = "machine_not_joined";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineNotJoined&, const MachineNotJoined&) = default;
};

struct MachineNotJoinedWithin {
  static constexpr std::string_view kCode = "machine_not_joined_within";
  Duration within{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("within", self.within);
  }
  friend bool operator==(const MachineNotJoinedWithin&, const MachineNotJoinedWithin&) = default;
};

struct MachineAgentDown {  // the machine is there, and its agent does not run
  static constexpr std::string_view kCode = "machine_agent_down";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineAgentDown&, const MachineAgentDown&) = default;
};

struct PasswordNotSet {
  static constexpr std::string_view kCode = "password_not_set";
  std::string secret;
  std::string owner;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("secret", self.secret);
    see("owner", self.owner);
  }
  friend bool operator==(const PasswordNotSet&, const PasswordNotSet&) = default;
};

struct PasswordUnusable {
  static constexpr std::string_view kCode = "password_unusable";
  std::string secret;
  std::string owner;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("secret", self.secret);
    see("owner", self.owner);
    see("why", self.why);
  }
  friend bool operator==(const PasswordUnusable&, const PasswordUnusable&) = default;
};

struct HostUnknown {
  static constexpr std::string_view kCode = "host_unknown";
  std::string target;
  std::string host;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("host", self.host);
  }
  friend bool operator==(const HostUnknown&, const HostUnknown&) = default;
};

struct TargetUnknown {
  static constexpr std::string_view kCode = "target_unknown";
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
  }
  friend bool operator==(const TargetUnknown&, const TargetUnknown&) = default;
};

struct MachinesNotWanted {  // any more, so the call was stopped
  static constexpr std::string_view kCode = "machines_not_wanted";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachinesNotWanted&, const MachinesNotWanted&) = default;
};

struct NoMachineToWorkOn {  // each of the call was refused
  static constexpr std::string_view kCode = "no_machine_to_work_on";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoMachineToWorkOn&, const NoMachineToWorkOn&) = default;
};

struct ProviderTooSlow {
  static constexpr std::string_view kCode = "provider_too_slow";
  Duration limit{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
  }
  friend bool operator==(const ProviderTooSlow&, const ProviderTooSlow&) = default;
};

struct ProviderPrintedTooMuch {
  static constexpr std::string_view kCode = "provider_printed_too_much";
  std::int64_t lines = 0;  // the most
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("lines", self.lines);
  }
  friend bool operator==(const ProviderPrintedTooMuch&, const ProviderPrintedTooMuch&) = default;
};

struct ProviderLineTooLong {
  static constexpr std::string_view kCode = "provider_line_too_long";
  std::int64_t bytes = 0;  // the most
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("bytes", self.bytes);
  }
  friend bool operator==(const ProviderLineTooLong&, const ProviderLineTooLong&) = default;
};

struct ProviderKilled {
  static constexpr std::string_view kCode = "provider_killed";
  int signal = 0;
  std::string name;  // of the signal
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("signal", self.signal);
    see("name", self.name);
  }
  friend bool operator==(const ProviderKilled&, const ProviderKilled&) = default;
};

struct ProviderExited {
  static constexpr std::string_view kCode = "provider_exited";
  int exit_code = 0;
  std::string said;  // the last line of its errors
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("exit_code", self.exit_code);
    see("said", self.said);
  }
  friend bool operator==(const ProviderExited&, const ProviderExited&) = default;
};

struct ProviderSaidNothing {  // about the machine
  static constexpr std::string_view kCode = "provider_said_nothing";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const ProviderSaidNothing&, const ProviderSaidNothing&) = default;
};

struct ProviderNotUnderstood {  // lines that it printed
  static constexpr std::string_view kCode = "provider_not_understood";
  std::string target;
  Why why;  // how it ended
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("why", self.why);
  }
  friend bool operator==(const ProviderNotUnderstood&, const ProviderNotUnderstood&) = default;
};

using ProviderReasons =
    List<MachineStepFailed, ProviderSaid, MachineNotJoined, MachineNotJoinedWithin,
         MachineAgentDown, PasswordNotSet, PasswordUnusable, HostUnknown, TargetUnknown,
         MachinesNotWanted, NoMachineToWorkOn, ProviderTooSlow, ProviderPrintedTooMuch,
         ProviderLineTooLong, ProviderKilled, ProviderExited, ProviderSaidNothing,
         ProviderNotUnderstood>;

}  // namespace lockstep
