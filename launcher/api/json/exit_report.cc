#include "launcher/api/json/job.h"

namespace lockstep::api {

void keys(const LostPeer& peer, See& see) {
  see("address", unless_empty(peer.address),
      "The peer's address, as the rank wrote it; null: for those who may not read the job.");
  see("node_rank", unless_negative(peer.node_rank), "The node with that address; null: unknown.");
  see("rank", peer.end ? std::optional(peer.end->rank) : std::nullopt,
      "The rank that had ended there; null: unknown.");
  see("exit_code", peer.end ? std::optional(peer.end->exit_code) : std::nullopt,
      "With which code; null: unknown.", kAnyNumber);
  see("left", peer.left, "All ranks of that node had exited with code 0.");
}

void keys(const PossibleFirst& other, See& see) {
  see("cause", other.cause, "As `cause` of the report.");
  see("rank", other.rank, "null: the node as a whole failed.");
  see("node_name", other.node_name, "Its node.");
  see("time", other.time, "When it failed, by the launcher's clock.");
  see("message", other.message, "In words.");
  see("reason_data", other.why, "`message`, for programs.");
}

void keys(const NodeClock& clock, See& see) {
  see("node_name", clock.node_name, "The node.");
  see("ahead_seconds", clock.offset.ahead, "Its clock minus the launcher's, in seconds.",
      kAnyNumber);
  see("uncertainty_seconds", clock.offset.uncertainty,
      "The true value is within so much of it, in seconds.");
}

void keys(const ExitReport& report, See& see) {
  see.page("exit-report", "Exit report", "How an attempt ended, and which rank failed first.");
  see("cause", report.cause, "Why it ended; completed: every rank exited with code 0.");
  see("exit_code", report.exit_code,
      "What `lockstep run` exits with: the code of the first rank that failed, 128 and the "
      "signal's number, or 124 to 130 for causes of Lockstep's.");
  see("rank", report.rank,
      "The first rank that failed, counted over the whole job; null: it was none.");
  see("node_name", unless_empty(report.node_name),
      "The node of that rank; null: it concerns no one node.");
  see("time", report.time, "When it failed.");
  see("message", report.message, "The reason in words; empty for those who may not read the job.");
  see("reason_data", report.why, "`message`, for programs.");
  see("stderr_tail", report.stderr_tail,
      "The last lines of the rank's standard error, at most 4096 bytes.");
  see("backtrace", report.backtrace,
      "The stack of the thread that failed, a frame in a line, the innermost first; empty: there "
      "is none (`lockstep.core`).");
  see("hang", report.hang ? std::optional(report.hang->kind) : std::nullopt,
      "Of the cause `hang`: what was found, as `kind` of a finding has it; null: of other causes.");
  see("lost_peer", report.lost_peer,
      "The rank failed after a connection to a peer was closed; null: its last output names none.");
  see("terminated_ranks", report.terminated_ranks, "Ranks that were ended because of it.");
  see("also", report.also,
      "Failures that may have come first: the nodes' clocks are not known well enough to say which "
      "did.");
  see("clocks", report.clocks,
      "The nodes of the attempt whose clocks differ from the launcher's by more than 0.1 s; all "
      "times are corrected by that.");
}

}  // namespace lockstep::api
