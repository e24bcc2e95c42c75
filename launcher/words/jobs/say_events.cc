#include "launcher/words/jobs/say_events.h"

#include <fmt/format.h>

#include "common/domain/why/jobs/events.h"
#include "launcher/words/found/about_found.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/job_text.h"
#include "launcher/words/jobs/say_ends.h"
#include "launcher/words/why.h"

namespace lockstep::words {

std::string say(const DoneBy& reason) { return "by " + text_of(reason.who); }

std::string say(const PriorityIs& reason) {
  return fmt::format("priority {}, by {}", to_string(reason.priority), reason.by);
}

std::string say(const StepHasJob& reason) {
  return fmt::format("{}: {}", reason.step, unquoted_job_text(reason.job));
}

std::string say(const StepReusesJob& reason) {
  return fmt::format("{}: the outputs of {} are reused", reason.step,
                     unquoted_job_text(reason.job));
}

std::string say(const StepLeftOut& reason) {
  return fmt::format("{}: not run: {}", reason.step, text_of(reason.why));
}

std::string say(const JobIs& reason) {
  const std::string status(to_string(reason.status));
  return reason.why ? fmt::format("{}: {}", status, text_of(reason.why)) : status;
}

std::string say(const EndedFor& reason) { return std::string(to_string(reason.cause)); }

std::string say(const OutputIsWritten& reason) {
  return fmt::format("output '{}' to {}", reason.output, reason.to);
}

std::string say(const OutputGivenUp& reason) {
  return fmt::format("output '{}' not to {}: given up after {} tries: {}", reason.output, reason.to,
                     reason.tries, text_of(reason.why));
}

std::string say(const PlacedOn& reason) {
  return fmt::format("on {}{}", fmt::join(reason.nodes, ", "),
                     reason.more == 0 ? "" : fmt::format(" and {} more", reason.more));
}

std::string say(const NodesBegin&) { return "the source tree and the runners are prepared"; }

std::string say(const NodesAreReady& reason) {
  return reason.nodes == 1 ? "the node is ready"
                           : fmt::format("all {} nodes are ready", reason.nodes);
}

std::string say(const NodesConnect& reason) {
  return fmt::format(
      "{} nodes receive each other's addresses, and start their ranks when they are connected",
      reason.nodes);
}

std::string say(const RanksStarted&) { return "all ranks were started"; }

std::string say(const RanksEnded&) { return "no rank runs any more"; }

std::string say(const OutputsCollected& reason) {
  std::string text;
  for (const CollectedOne& output : reason.outputs) {
    if (!text.empty()) text += "; ";
    text += describe(output.kind, output.name) + ": ";
    text += output.collected
                ? fmt::format("{} {}, {}", output.files, output.files == 1 ? "file" : "files",
                              to_string(output.size))
                : "not collected";
    if (output.left_out > 0) text += fmt::format(", {} left out", output.left_out);
  }
  return text;
}

std::string say(const OutputNotKept& reason) {
  return fmt::format("{}: {}", describe(reason.kind, reason.name), reason.said);
}

std::string say(const NewerNotKept& reason) {
  return "newer versions of outputs and of the checkpoint, while it runs: " + reason.said;
}

std::string say(const LastLogsLost& reason) {
  if (reason.bytes.count == 0) return "its last logs did not arrive in time";
  return fmt::format("the last {} of its logs: the launcher had no space for them",
                     to_string(reason.bytes));
}

std::string say(const RanksFound& reason) {
  const About names = about(reason.found);
  std::string text = say(found_of(reason.found), names).what;
  const bool has_stacks =
      reason.found.verdict == FoundVerdict::hangs && names.stacks_of_attempt != 0;
  return has_stacks ? text + "; " + say_kept_stacks(names) : text;
}

std::string say(const RanksGoOn& reason) {
  return say_over(found_of(reason.found), about(reason.found));
}

std::string say(const NodeIsUnknown& reason) {
  return text_of(reason.why) + "; its ranks may still be running";
}

std::string say(const NodeReportsAgain&) { return "the node reports again"; }

std::string say(const LauncherTakesNoLogs& reason) {
  return "the launcher takes no more logs: " + reason.said;
}

std::string say(const RanksWriteAgain&) { return "the ranks go on"; }

std::string say(const NotMergedYet& reason) {
  return "its outputs are not merged yet: " + reason.said;
}

std::string say(const RanksSignaled& reason) {
  const std::string name = signal_name(reason.signal);
  return fmt::format(
      "{} to {}, by {}", name.empty() ? fmt::format("signal {}", reason.signal) : name,
      reason.rank ? fmt::format("rank {}", *reason.rank) : "the ranks of the node", reason.by);
}

std::string say(const ApprovalPending&) { return "it waits for approval"; }

std::string say(const AgentHasVersion& reason) { return "agent " + reason.version; }

std::string say(const TakenAwayAt& reason) {
  return fmt::format("at {}: {}", to_string(reason.at), text_of(reason.why));
}

}  // namespace lockstep::words
