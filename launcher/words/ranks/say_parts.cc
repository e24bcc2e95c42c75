#include "launcher/words/ranks/say_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/ranks/limits.h"
#include "launcher/words/found/say_path.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

constexpr Bytes kWorthSaying = mebibytes(1);

std::string_view spawn_end_text(SpawnEnd end) {
  switch (end) {
    case SpawnEnd::died: return "lockstep-spawn died";
    case SpawnEnd::container_removed: return "the container had to be removed";
    case SpawnEnd::container_gone: return "the container was stopped or removed from outside";
  }
  return "lockstep-spawn died";
}

std::string fault_text(const GangTableRefused& reason) {
  switch (reason.fault) {
    case TableFault::other_attempt: return "is that of attempt " + reason.attempt;
    case TableFault::out_of_order:
      return fmt::format("has the row of node rank {} where that of {} was due", reason.first,
                         reason.due);
    case TableFault::wrong_count:
      return fmt::format("does not have one row for each of the gang's {} nodes", reason.nodes);
    case TableFault::altered: return "is not the one that the launcher made (their digests differ)";
    case TableFault::incomplete: break;
  }
  return "is not complete";
}

std::string taken_text(Bytes used, Bytes removed) {
  if (removed < kWorthSaying) return to_string(used);
  return fmt::format("{} ({} of it in files that were removed and are still open)", to_string(used),
                     to_string(removed));
}

// "2026-11-22 10:30 UTC"
std::string minute_text(Instant time) {
  std::string text = to_string(time).substr(0, 16);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text + " UTC";
}

}  // namespace

// ---- of a runner --------------------------------------------------------------------------------

std::string say(const StoppedByOrder& reason) {
  return fmt::format("stopped by order: {}", to_string(reason.order));
}

std::string say(const PeerEndedGang& reason) {
  return fmt::format("node rank {} ended the gang: {}", reason.node_rank, text_of(reason.why));
}

std::string say(const PortWasTaken& reason) {
  return fmt::format("MASTER_PORT {} was taken before rank 0 listened", reason.port);
}

std::string say(const GangHung& reason) {
  std::string text(to_string(reason.kind));
  for (const int rank : reason.ranks) text += fmt::format(" rank {}", rank);
  return text;
}

std::string say(const RanksDiedWithSpawn& reason) {
  return fmt::format("{}, and this node's ranks ended with it", spawn_end_text(reason.end));
}

std::string say(const RankServerDied& reason) {
  return reason.said + ", and this node's ranks were ended with it";
}

std::string say(const LeaseRanOut& reason) {
  const std::string lease = format_duration(reason.lease);
  return (reason.without_agent ? "neither an agent nor the launcher was reachable for " + lease
                               : fmt::format("no message from the launcher for {}", lease)) +
         ": its lease ran out (on_lost: after_fence)";
}

std::string say(const RanTooLong& reason) {
  return "ran longer than limits.timeout, " + format_duration(reason.limit);
}

std::string say(const PathIsBroken& reason) {
  const Said said = path_said(reason.path, reason.from_name, reason.to_name);
  std::string text = said.what + "; " + said.remedy;
  if (reason.more > 0)
    text += fmt::format("; {} more of its paths {} broken", reason.more,
                        reason.more == 1 ? "is" : "are");
  return text;
}

std::string say(const GangNotConnected& reason) {
  const std::string why = text_of(reason.why);
  return fmt::format("the runners of the gang did not all connect within {}{}{}",
                     format_duration(reason.within), why.empty() ? "" : ": ", why);
}

std::string say(const ProbeDidNotEnd& reason) {
  return fmt::format(
      "the probe of the gang's network had no end within {}: a node of the gang, or the network to "
      "it, hangs",
      format_duration(reason.within));
}

std::string say(const ProbeFailed&) { return "the probe of the gang's network failed"; }

std::string say(const OrderLacksGang&) {
  return "the order to run does not have the gang's table, because this node's agent was replaced "
         "by an older one while the job was prepared";
}

std::string say(const GangTableRefused& reason) {
  if (reason.fault == TableFault::incomplete)
    return fmt::format(
        "node rank {} gave the order to start before it had passed the gang's table on",
        reason.parent);
  return fmt::format("the gang's table, as node rank {} passed it on, {}", reason.parent,
                     fault_text(reason));
}

std::string say(const LimitsAreRequired& reason) {
  return text_of(reason.why) + "; the job says lockstep.limits: required";
}

// ---- of an agent --------------------------------------------------------------------------------

std::string say(const StoppedEarly& reason) {
  return reason.has_directory ? "stopped before its runner was started"
                              : "stopped before its working directory was made";
}

std::string say(const RunnerDied& reason) {
  std::string text = "the runner died without a final report";
  if (reason.is_unwatched) text += " while no agent watched";
  const std::string& removed = reason.removed_directory;
  const std::string said =
      removed.empty() ? reason.said : "its attempt directory was removed: " + removed;
  return said.empty() ? text : text + "; the end of its log: " + said;
}

std::string say(const RunnerWasKilled&) { return "the runner did not stop in time and was killed"; }

std::string say(const RunnerToldNoEnd&) {
  return "the runner finished without reporting how its ranks ended";
}

std::string say(const HoldsMostParts& reason) {
  return fmt::format(
      "the node already holds {} parts; it accepts new ones after old ones are released",
      reason.parts);
}

std::string say(const DiskLimitReached& reason) {
  return fmt::format(
      "its files take {} of this node's disk, but its limit is {} (--disk-limit; "
      "lockstep.limits.disk in a job file)",
      taken_text(reason.used, reason.removed), to_string(reason.limit));
}

std::string say(const DiskIsFull& reason) {
  return fmt::format(
      "this node's disk is full ({} of {} are free), and of all jobs here this job takes the most "
      "space, {}; write less, or ask for a node with more disk",
      to_string(reason.free), to_string(reason.total), taken_text(reason.used, reason.removed));
}

std::string say(const EnvironmentFailedBefore& reason) {
  return fmt::format(
      "the {} failed before, on {} for job {}, and is not tried again unchanged: change the "
      "definition, or submit the job with --rebuild. {}",
      reason.environment, minute_text(reason.at), reason.job.value, reason.said);
}

// ---- of a node that takes no new part -----------------------------------------------------------

std::string say(const DiskIsLow& reason) {
  return fmt::format(
      "its disk is low: less than {} are free in {} (lockstep-agent --low-space); `lockstep "
      "environment prune --unused-for 0s` removes unused environments",
      to_string(reason.low), reason.folder);
}

std::string say(const ProcessesAreScarce& reason) {
  return fmt::format(
      "its jobs have nearly all of the {} processes and threads that they may have together "
      "(pids.max in {})",
      with_commas(reason.limit), reason.cgroup);
}

// ---- of the launcher, about what a node told ----------------------------------------------------

std::string say(const NoFinalReport&) { return "it left no final report"; }

std::string say(const IncompleteReport& reason) {
  return fmt::format("its final report has {} of {} ranks", reason.ranks, reason.wanted);
}

std::string say(const LockWasNotKept& reason) {
  return "the lock that the node named is not kept: " + reason.said;
}

}  // namespace lockstep::words
