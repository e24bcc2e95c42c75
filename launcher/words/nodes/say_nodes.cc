#include "launcher/words/nodes/say_nodes.h"

#include <fmt/format.h>

#include "common/base/time.h"
#include "launcher/words/job_text.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

constexpr std::string_view kHowToDivide =
    "divide the machine: start each of its agents with its part of it (lockstep-agent --share 1/2 "
    "and --share 2/2, or --cpus, --memory and --gpus)";

// "boot id …, machine id …"
std::string name_of(const MachineRef& machine) {
  std::string text = "boot id " + machine.boot_id;
  if (!machine.machine_id.empty()) text += ", machine id " + machine.machine_id;
  return text;
}

std::string_view one_of(NodeAmount what) { return what == NodeAmount::gpus ? "gpu" : "cpu"; }

}  // namespace

std::string say(const NodeAwaitsApproval& reason) {
  return fmt::format("waits for approval: an admin approves it with `lockstep node approve {}`",
                     reason.node);
}

std::string say(const NodeNeverReported&) {
  return "has joined, but its agent has not reported yet; if that stays so, it does not reach the "
         "launcher's port for nodes (`lockstep-agent doctor` there says which port)";
}

std::string say(const NodeIsLost& reason) { return "is LOST (" + text_of(reason.why) + ")"; }

std::string say(const NodeTakenAway& reason) {
  return fmt::format("is taken away at {}: {}", to_string(reason.at), text_of(reason.why));
}

std::string say(const NodeDraining& reason) {
  return fmt::format("is draining{}; `lockstep node resume {}` lets it take work again",
                     reason.text.empty() ? "" : " (" + reason.text + ")", reason.node);
}

std::string say(const NodeNotUnderstood& reason) {
  return "has an agent that the launcher cannot understand: " + reason.said;
}

std::string say(const NodeUnheard&) { return "is UNKNOWN: it has not reported recently"; }

std::string say(const NodeSilent& reason) {
  return text_of(reason.why) + "; silent for " + format_duration(reason.silent_for);
}

std::string say(const NodeStopsOldAttempt& reason) {
  return "is still stopping an attempt from before it was LOST (" + attempt_text(reason.attempt) +
         ")";
}

std::string say(const NodeAskedWhatRuns&) {
  return "was LOST, and the launcher is asking which ranks still run there";
}

std::string say(const NodeTakesNoWork& reason) {
  return "takes no new work: " + text_of(reason.why);
}

std::string say(const NodeCloned& reason) {
  const std::string both =
      reason.live
          ? fmt::format("sessions {:x} and {:x} are both alive", reason.session, *reason.live)
          : fmt::format("session {:x} was replaced by a newer one", reason.session);
  return fmt::format(
      "two agents identify themselves as node {} (id {}): {}; the machine's image was cloned. "
      "Delete the agent's identity on one of the machines and join that machine again with a "
      "token, then start both agents again",
      reason.node, reason.id.value, both);
}

std::string say(const NodeFull& reason) {
  return fmt::format("has {} attempts, the most that a node may have", reason.attempts);
}

std::string say(const NodeHasFewerThanSize& reason) {
  return fmt::format("has {} {}, but its size {} has {}", reason.has, to_string(reason.what),
                     reason.size, reason.size_has);
}

std::string say(const NodeHasLessMemoryThanSize& reason) {
  return fmt::format("has {} memory, but its size {} has {}", to_string(reason.has), reason.size,
                     to_string(reason.size_has));
}

std::string say(const NodeLacksRdmaOfSize& reason) {
  return fmt::format("{}, but its size {} has RDMA", text_of(reason.why), reason.size);
}

std::string say(const NodeOffersAnothersDevice& reason) {
  return fmt::format("offers {} {}, which node {} of the same machine ({}) offers too; {}",
                     one_of(reason.what), reason.index, reason.other, name_of(reason.machine),
                     kHowToDivide);
}

std::string say(const NodeOffersTooMuchMemory& reason) {
  return fmt::format(
      "offers {} memory, but earlier nodes of the same machine ({}; the first is {}) offer {} of "
      "the {} that it has; {}",
      to_string(reason.offers), name_of(reason.machine), reason.first, to_string(reason.earlier),
      to_string(reason.whole), kHowToDivide);
}

std::string say(const NodeClaimsAnothersMachine& reason) {
  return fmt::format(
      "says since {} that it is on the machine of node {} (boot and network namespace {}), where "
      "it was not before. If it was moved there, remove it with `lockstep node remove {}` and join "
      "it again; if not, its root may have made that up",
      to_string(reason.since), reason.other, reason.host, reason.node);
}

std::string say(const MachineIsANode& reason) {
  return fmt::format(
      "this machine ({}) is node {} of target '{}' already, which offers {} cpus and {} memory of "
      "it; a machine is attached once. Detach or remove that node first, or {}",
      name_of(reason.machine), reason.node, reason.target, reason.cpus, to_string(reason.memory),
      kHowToDivide);
}

}  // namespace lockstep::words
