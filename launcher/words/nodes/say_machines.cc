#include "launcher/words/nodes/say_machines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/words/counted_noun.h"
#include "launcher/words/job_text.h"
#include "launcher/words/nodes/say_placement.h"
#include "launcher/words/why.h"

namespace lockstep::words {

// ---- why a machine is wanted --------------------------------------------------------------------

std::string say(const HostOfTarget&) { return "it is a host of the target"; }

std::string say(const JobsNeedMachine& reason) {
  if (reason.jobs == 1) return job_text(reason.first) + " waits for it";
  return fmt::format("{} jobs wait, first {}", reason.jobs, job_text(reason.first));
}

std::string say(const MinInstances& reason) {
  return fmt::format("min_instances is {}", reason.instances);
}

std::string say(const InstanceIsOn& reason) {
  return "the compute instance was started " + text_of(reason.why);
}

// ---- why a machine leaves -----------------------------------------------------------------------

std::string say(const InstanceIsOff& reason) {
  return "the compute instance was stopped " + text_of(reason.why);
}

std::string say(const NoJobFitsMachine&) { return "no waiting job can run on it"; }

std::string say(const MachineNodeLost& reason) {
  return "its node was lost: " + text_of(reason.why);
}

std::string say(const MachineNotMade& reason) {
  return fmt::format("it could not be made ({})", text_of(reason.why));
}

std::string say(const MachineNotNeeded&) { return "no job needs it any more"; }

std::string say(const MachineIdle& reason) {
  return fmt::format("it had no work for {}", format_duration(reason.idle));
}

std::string say(const TargetDeleted&) { return "the target is being deleted"; }

std::string say(const HostNotOfTarget&) { return "it is no longer a host of the target"; }

std::string say(const MachineRestarted& reason) { return "restarted by " + reason.by; }

std::string say(const HostDetached& reason) { return "detached by " + reason.by; }

std::string say(const MachineNodeRevoked& reason) { return "its node was revoked by " + reason.by; }

std::string say(const MachineTakenAway& reason) {
  return "it is taken away: " + text_of(reason.why);
}

std::string say(const MachineNotKnown&) {
  return "its provider has it, and the launcher did not know it";
}

// ---- why a machine is gone ----------------------------------------------------------------------

std::string say(const MachineNeverReached&) {
  return "it was never reached, so nothing is installed there";
}

std::string say(const MachineForgotten& reason) {
  return fmt::format(
      "forgotten by force, because it could not be removed ({}); an agent may still be there",
      text_of(reason.why));
}

std::string say(const MachineRemoved&) { return "the provider removed it"; }

// ---- what an elastic target did last ------------------------------------------------------------

std::string say(const ScaledUp& reason) {
  return fmt::format("{} is wanted: {}", reason.machine, text_of(reason.why));
}

std::string say(const ScaledDown& reason) {
  return fmt::format("{} leaves: {}", reason.machine, text_of(reason.why));
}

std::string say(const MachinesLackAccount& reason) {
  return fmt::format("its machines cannot run jobs as {}: {}", reason.account, text_of(reason.why));
}

// ---- why jobs wait for machines, or would wait in vain -----------------------------------------

std::string say(const NeedsMoreHosts& reason) {
  return fmt::format(
      "needs {}, and target '{}' has only {}; `lockstep compute attach {} --host ADDRESS` adds one",
      describe(reason.asked), reason.target,
      counted(static_cast<std::size_t>(reason.hosts), "host"), reason.target);
}

std::string say(const WaitsForMachines& reason) {
  std::string text =
      fmt::format("waits for {}; target '{}' has {}", describe(reason.asked), reason.target,
                  counted(static_cast<std::size_t>(reason.nodes), "node"));
  if (reason.coming != 0)
    text += fmt::format(", and {} being made", reason.coming == 1
                                                   ? "1 machine is"
                                                   : fmt::format("{} machines are", reason.coming));
  if (reason.leaving != 0) text += fmt::format(", {} being removed", reason.leaving);
  if (reason.pending) text += "; its provider waits: " + text_of(reason.pending);
  if (reason.failure) text += "; the last machine could not be made: " + text_of(reason.failure);
  if (reason.retry_at)
    text += fmt::format("; the next is tried at {}, or at once by `lockstep compute update {}`",
                        to_string(*reason.retry_at), reason.target);
  return text;
}

std::string say(const HeldByParent& reason) {
  return fmt::format("{}needs {}, and {}, which submits it, holds so much of target '{}' ({})",
                     reason.step.empty() ? "" : fmt::format("step '{}' ", reason.step),
                     describe(reason.asked), job_text(reason.parent), reason.target,
                     fmt::join(reason.nodes, ", "));
}

std::string say(const StartsAfterParent& reason) {
  return text_of(reason.why) + ": it starts when that has ended";
}

}  // namespace lockstep::words
