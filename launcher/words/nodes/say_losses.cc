#include "launcher/words/nodes/say_losses.h"

#include <fmt/format.h>

#include "launcher/words/job_text.h"

namespace lockstep::words {

std::string say(const NodeNotHeard& reason) {
  return "it has not reported for " + format_duration(reason.silent);
}

std::string say(const NodeRebooted&) { return "it was rebooted"; }

std::string say(const RunnerNotReported&) { return "the node no longer reports this runner"; }

std::string say(const PlacedBeforeBackup&) {
  return "it was placed just before the backup that the launcher was restored from";
}

std::string say(const NodeRevoked& reason) { return "its node was revoked by " + reason.by; }

std::string say(const AgentReplaced&) {
  return "its node was revoked by a new agent of its machine";
}

std::string say(const MachineIsGone&) { return "its machine is gone"; }

std::string say(const InstanceForced& reason) {
  return fmt::format("compute {} --force by {}", reason.verb, reason.by);
}

std::string say(const MachineForced&) { return "its machine was removed by force"; }

std::string say(const RunnerEnded&) { return "the node says that it ended"; }

std::string say(const RunnerRemoved&) { return "the node removed it"; }

std::string say(const AgentWasTold&) { return "its agent was told so"; }

std::string say(const ProviderSaysSo&) { return "its provider says so"; }

std::string say(const MachineEnds& reason) {
  return "its machine ends after " + format_duration(reason.lifetime);
}

std::string say(const NodeWasRemoved& reason) {
  return fmt::format(
      "node {} was removed from this launcher{} at {}; to let this machine join again, remove "
      "identity.json and keys in the agent's home (--home) and give the agent a new token "
      "(`lockstep node token`)",
      reason.node, reason.by.empty() ? "" : " by " + reason.by, to_string(reason.at));
}

std::string say(const KeyNotKnown&) {
  return "this node's key is not known to the launcher; join it again with a token (`lockstep node "
         "token`)";
}

std::string say(const KeyOfAnother& reason) {
  return fmt::format(
      "this key belongs to node {} (id {}), not to id {}; delete the agent's identity and join "
      "again with a token",
      reason.node, reason.id.value, reason.claimed.value);
}

std::string say(const ForeignAttempt& reason) {
  return fmt::format("it reports attempt {}, which was never assigned to it",
                     attempt_text(reason.attempt));
}

std::string say(const LockNotAsked& reason) {
  return fmt::format(
      "its lock for {} was refused, because the launcher did not ask this node to solve the "
      "environment",
      reason.platform);
}

std::string say(const LockOfAnotherPlatform& reason) {
  return fmt::format(
      "its question for a lock for {} was refused, because it has asked for one for {} in this "
      "attempt; the next attempt may ask for another",
      reason.platform, reason.before);
}

std::string say(const NoRoomForLock& reason) {
  return fmt::format(
      "its lock for {} was refused, because the environment has locks for {} platforms, the most "
      "allowed; a job that is submitted with --rebuild drops them",
      reason.platform, reason.most);
}

}  // namespace lockstep::words
