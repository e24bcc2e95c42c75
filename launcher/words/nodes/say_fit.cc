#include "launcher/words/nodes/say_fit.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/time.h"
#include "common/domain/ranks/limits.h"
#include "launcher/words/job_text.h"
#include "launcher/words/nodes/held_node.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

// The words for a job that requests some resources of a node but not this one.
constexpr std::string_view kAllOfIt = "all (the job gives no amount)";

std::string requested(std::string_view allowed, std::string_view wanted, std::string_view flag) {
  return fmt::format("allows a job {}, {} requested (lockstep-agent {})", allowed, wanted, flag);
}

// " (a.1 runs there)", or that the attempt holds all of a resource because it requests no amount.
std::string who_holds(const AttemptId& attempt, bool holds_all, std::string_view what) {
  if (!holds_all) return fmt::format(" ({} runs there)", attempt_text(attempt));
  return fmt::format(
      " ({} holds all {} of the node, because it was submitted without --{}; with --{}, other jobs "
      "could use the rest)",
      attempt_text(attempt), what, what, what);
}

std::string_view too_little_of(NodeAmount what) {
  switch (what) {
    case NodeAmount::cpus: return "few cpus";
    case NodeAmount::gpus: return "few gpus";
    case NodeAmount::memory: return "little memory";
  }
  return "";
}

}  // namespace

std::string say(const NodeIsNotNamed&) { return "is not among the nodes that the job names"; }

std::string say(const NodeHasNoLabel& reason) { return "has no label " + reason.key; }

std::string say(const NodeHasOtherLabel& reason) {
  return fmt::format("has the label {}={}, {}={} asked for", reason.key, reason.has, reason.key,
                     reason.wanted);
}

std::string say(const SizeIsNotIsolated& reason) {
  return fmt::format("is of size {}, which is not isolated", reason.size);
}

std::string say(const NodeSharesMachine& reason) {
  return fmt::format("shares its machine with node {}, but the job asks for isolation",
                     reason.other);
}

std::string say(const NodeHasNoRdma&) { return "has no RDMA device"; }

std::string say(const RdmaPortsAreDown& reason) {
  std::vector<std::string> ports;
  for (const RdmaPortsAreDown::Port& port : reason.ports)
    ports.push_back(fmt::format("{}:{} is {}", port.device, port.port, port.state));
  return fmt::format("has no active RDMA port ({})", fmt::join(ports, ", "));
}

std::string say(const NodeIsInNoPartition&) {
  return "is a full member of no InfiniBand partition (pkey), so other nodes cannot reach it by "
         "RDMA";
}

std::string say(const NodeLacksAccount& reason) {
  return fmt::format("cannot run jobs as {}: {}", reason.account, text_of(reason.why));
}

std::string say(const NodeLacksWhatJobNames&) {
  return "does not have what the job names, or no room for it, as an attempt found";
}

std::string say(const MachineEndsBeforeJob& reason) {
  return fmt::format("ends in {}, and the job may run for {} (limits.timeout)",
                     format_duration(reason.left), format_duration(reason.timeout));
}

std::string say(const NodeHasNoEngine&) {
  return fmt::format("has no container engine: {}", kNoEngine);
}

std::string say(const NodeHasFewer& reason) {
  return fmt::format("has {} {}, {} asked for", reason.has, to_string(reason.what), reason.wanted);
}

std::string say(const NodeHasLessMemory& reason) {
  return fmt::format("has {} memory, {} asked for", to_string(reason.has),
                     to_string(reason.wanted));
}

std::string say(const NodeHasFewerGpusThanRanks& reason) {
  return fmt::format("has {} gpus, but gpus_per_rank: isolated needs one for each of {} ranks",
                     reason.gpus, reason.ranks);
}

std::string say(const NodeMayNotEnforceLimits&) {
  return "has an agent that does not report which limits it enforces (lockstep.limits: required)";
}

std::string say(const NodeCannotEnforceLimit& reason) {
  return fmt::format("cannot enforce a limit of {} (lockstep.limits: required): {}", reason.limit,
                     reason.said);
}

std::string say(const NodeAllowsFewerProcesses& reason) {
  return requested(fmt::format("at most {} processes a rank", with_commas(reason.most)),
                   with_commas(reason.wanted), "--max-pids-limit");
}

std::string say(const NodeAllowsLessLog& reason) {
  return requested(fmt::format("at most {} of logs", to_string(reason.most)),
                   to_string(reason.wanted), "--max-log-limit");
}

std::string say(const NodeAllowsLessDisk& reason) {
  return requested(fmt::format("at most {} of disk", to_string(reason.most)),
                   to_string(reason.wanted), "--max-disk-limit");
}

std::string say(const MachineRunsIsolated& reason) {
  return fmt::format("shares its machine with node {}, which runs {}, an isolated job",
                     reason.other, attempt_text(reason.attempt));
}

std::string say(const NodeKeptFor& reason) { return "is kept for " + job_text(reason.job); }

std::string say(const HeldAsAWhole& reason) { return held_as_a_whole(reason.job); }

std::string say(const NodeUsedBy& reason) {
  return fmt::format("is used by {}, but the job asks for the whole node", job_text(reason.job));
}

std::string say(const NodeHasFewerFree& reason) {
  const std::string_view what = to_string(reason.what);
  return fmt::format("has {} of its {} {} free, {} asked for{}", reason.free, reason.all, what,
                     reason.wanted ? std::to_string(*reason.wanted) : std::string(kAllOfIt),
                     who_holds(reason.attempt, reason.holds_all, what));
}

std::string say(const NodeHasLessMemoryFree& reason) {
  return fmt::format("has {} of its {} memory free, {} asked for{}", to_string(reason.free),
                     to_string(reason.all),
                     reason.wanted ? to_string(*reason.wanted) : std::string(kAllOfIt),
                     who_holds(reason.attempt, reason.holds_all, "memory"));
}

std::string say(const NodeHasTooLittleFree& reason) {
  return fmt::format("has too {} free beside {}{}", too_little_of(reason.what),
                     attempt_text(reason.attempt), reason.others ? " and others" : "");
}

}  // namespace lockstep::words
