#include "launcher/words/nodes/say_providers.h"

#include <fmt/format.h>

#include "launcher/words/why.h"

namespace lockstep::words {

std::string say(const MachineStepFailed& reason) {
  return fmt::format("{}: {}", reason.step, text_of(reason.why));
}

std::string say(const ProviderSaid& reason) { return reason.said; }

std::string say(const MachineNotJoined&) {
  return "the provider says that the machine runs, but its agent has not joined";
}

std::string say(const MachineNotJoinedWithin& reason) {
  return fmt::format(
      "it has run for {} and its agent has not joined; look whether the agent starts there, and "
      "reaches the launcher",
      format_duration(reason.within));
}

std::string say(const MachineAgentDown&) {
  return "the machine is there, but its agent does not run";
}

std::string say(const PasswordNotSet& reason) {
  return fmt::format(
      "its password is the secret '{}' of user '{}', which is not set; set it with `lockstep "
      "secret set {}`",
      reason.secret, reason.owner, reason.secret);
}

std::string say(const PasswordUnusable& reason) {
  return fmt::format("the secret '{}' of user '{}' {}", reason.secret, reason.owner,
                     text_of(reason.why));
}

std::string say(const HostUnknown& reason) {
  return fmt::format("target '{}' has no host '{}'", reason.target, reason.host);
}

std::string say(const TargetUnknown& reason) {
  return fmt::format("there is no target '{}' any more", reason.target);
}

std::string say(const MachinesNotWanted&) { return "its machines are not wanted any more"; }

std::string say(const NoMachineToWorkOn&) { return "no machine can be worked on"; }

std::string say(const ProviderTooSlow& reason) {
  return fmt::format("it took longer than {}", format_duration(reason.limit));
}

std::string say(const ProviderPrintedTooMuch& reason) {
  return fmt::format("it printed more than {} lines", reason.lines);
}

std::string say(const ProviderLineTooLong& reason) {
  return fmt::format("it printed a line of more than {} bytes", reason.bytes);
}

std::string say(const ProviderKilled& reason) {
  return fmt::format("the provider was killed by signal {} ({})", reason.signal, reason.name);
}

std::string say(const ProviderExited& reason) {
  return fmt::format("the provider exited with {}{}{}", reason.exit_code,
                     reason.said.empty() ? "" : ": ", reason.said);
}

std::string say(const ProviderSaidNothing&) { return "the provider said nothing about it"; }

std::string say(const ProviderNotUnderstood& reason) {
  return fmt::format("{}; lines that it printed were not understood (`lockstep compute log {}`)",
                     text_of(reason.why), reason.target);
}

}  // namespace lockstep::words
