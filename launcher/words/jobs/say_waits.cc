#include "launcher/words/jobs/say_waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/cut.h"
#include "common/domain/why/all/find.h"
#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/words/counted_noun.h"
#include "launcher/words/job_text.h"
#include "launcher/words/nodes/held_node.h"
#include "launcher/words/quota_nouns.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

// Reasons whose sentence has the job as its subject: "waits for 2 nodes", "needs 5 nodes".
using OfTheJob = List<WaitsToBePlaced, WaitsForNodes, NodesWereRemoved, TargetHasNoNodes,
                      TargetHasNoNodesYet, NoMachineGivesThat, TooFewNodesFit>;

template <class... R>
bool is_one_of(const Why& why, List<R...>) {
  return (why.is<R>() || ...);
}

bool is_of_the_job(const Why& why) {
  const auto* vain = why.as<WaitsInVain>();
  return is_one_of(vain == nullptr ? why : vain->why, OfTheJob{});
}

std::string start_text(const ExpectedStart& start) {
  if (start.at)
    return fmt::format("starts at {} at the latest, when {}", to_string(*start.at),
                       text_of(start.until));
  if (!start.until) return "it is not known when it starts";
  return fmt::format("it is not known when it starts: {}", text_of(start.until));
}

// "node n2 (UNKNOWN)".
std::string standing_text(const NodeStanding& node) {
  const std::string liveness =
      node.liveness == Liveness::alive ? "" : fmt::format(" ({})", to_string(node.liveness));
  return fmt::format("node {}{}", node.name, liveness);
}

std::string standing_text(const std::optional<NodeStanding>& node) {
  return node ? standing_text(*node) : "its nodes";
}

// Cuts to about `limit` characters and makes each run of blanks one blank; a count ("120/340")
// stays whole.
std::string shortened(std::string_view words, std::size_t limit) {
  std::string text;
  for (const char c : words)
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  const auto counts = [&](std::size_t at) {
    return at < text.size() &&
           std::string_view("0123456789/.").find(text[at]) != std::string_view::npos;
  };
  for (int more = 0; more < 12 && counts(limit - 1) && counts(limit); ++more) ++limit;
  if (limit < text.size() && std::string_view(" ),;:").find(text[limit]) != std::string_view::npos)
    ++limit;  // keeps "…" apart from the word
  return cut(std::move(text), limit);
}

// The whole text of one part; several parts share one line of a terminal.
std::string progress_text(const WaitsForParts& reason, const PartProgress& part) {
  constexpr std::size_t kRoom = 60;
  std::string text = part.why ? text_of(part.why) : part.said;
  if (text.empty()) text = to_string(part.state);
  return reason.parts.size() == 1 ? text : shortened(text, kRoom / reason.parts.size());
}

}  // namespace

std::string say(const WaitsToBePlaced&) { return "waits to be placed"; }

std::string say(const WaitsForQuota& reason) {
  const std::string holder = to_string(QuotaHolder{reason.holder_kind, reason.holder});
  if (reason.limit == QuotaLimit::running_jobs)
    return fmt::format("waits: {} has {} of {} running jobs", holder, reason.used, reason.most);
  return fmt::format("waits: {} uses {} of {} {}, and this job needs {}", holder, reason.used,
                     reason.most, noun_of(reason.limit), reason.asked);
}

std::string say(const WaitsAtHead& reason) {
  return fmt::format("{}; {}", text_of(reason.why), start_text(reason.start));
}

std::string say(const WaitsBehindJob& reason) {
  const auto* head = reason.why.as<WaitsAtHead>();
  const bool is_of_job = is_of_the_job(head == nullptr ? reason.why : head->why);
  return fmt::format("waits behind {}{}{}", job_text(reason.job), is_of_job ? ", which " : ": ",
                     text_of(reason.why));
}

std::string say(const JobReachesItsLimit& reason) {
  return job_text(reason.job) + " reaches its time limit";
}

std::string say(const JobHasNoLimit& reason) {
  return job_text(reason.job) + " has no limits.timeout";
}

std::string say(const NodeIsReadyAgain& reason) { return reason.node + " is ready again"; }

std::string say(const WentBeforeJob& reason) {
  std::string how;
  switch (reason.how) {
    case GoesFirst::ends_before: how = "its own time limit is reached before"; break;
    case GoesFirst::fits_beside: how = "that job does not need these resources then"; break;
    case GoesFirst::own_user: how = "that job waits for others of its own user"; break;
    case GoesFirst::nodes_are_open:
      how = fmt::format("its nodes are open to other users until {}",
                        to_string(reason.open_until.value_or(Instant::never())));
      break;
  }
  return fmt::format("went before {} ({}): {}", job_text(reason.job), start_text(reason.start),
                     how);
}

std::string say(const WaitsForJobs& reason) {
  std::string text = fmt::format("waits for {} to {}", job_text(reason.job),
                                 reason.when == AfterWhen::completed ? "complete" : "end");
  if (reason.more > 0)
    text += fmt::format(", and for {}", counted(static_cast<std::size_t>(reason.more), "more job"));
  return text;
}

std::string say(const WaitsForTime& reason) {
  return fmt::format("does not start before {} (not_before)", to_string(reason.at));
}

// "exit code 3; retry 2 of 3 in 4s (10:32:07Z)".
std::string say(const WaitsToRetry& reason) {
  std::string text = text_of(reason.after);
  text += fmt::format("{}in {} ({}Z)", text.empty() ? "" : " ", format_duration(reason.left),
                      to_string(reason.at).substr(11, 8));
  if (!reason.fenced_node.empty())
    text += fmt::format(
        ", when no rank of the job can still run on node {} (on_lost: after_fence); sooner if that "
        "node comes back",
        reason.fenced_node);
  return text;
}

std::string say(const WaitsAgain& reason) {
  return fmt::format("{}; {}", text_of(reason.after), text_of(reason.why));
}

std::string say(const WaitsForParts& reason) {
  std::string text;
  for (const PartProgress& part : reason.parts)
    text += fmt::format("{}{}: {}", text.empty() ? "node " : "; ", part.node,
                        progress_text(reason, part));
  if (reason.more > 0) text += fmt::format("; and {} more", reason.more);
  return text;
}

std::string say(const NodeSays& reason) {
  return fmt::format("node {}: {}", reason.node, reason.said);
}

std::string say(const WaitsForRanksToEnd& reason) {
  return text_of(reason.why) + (reason.node ? "; waits for " + standing_text(*reason.node)
                                            : "; waiting for reports from all its nodes");
}

std::string say(const WaitsToStop& reason) {
  return fmt::format("waits for {} to stop the job", standing_text(reason.node));
}

std::string say(const WaitsForVerdict& reason) {
  return fmt::format("a rank failed; waiting to hear from {} before deciding the cause",
                     standing_text(reason.node));
}

std::string say(const WaitsForLogs& reason) {
  return fmt::format("waits for the logs of {} from {}{}", attempt_text(reason.attempt),
                     standing_text(reason.node), reason.why ? ": " + text_of(reason.why) : "");
}

std::string say(const OutputsAreMerged&) { return "its outputs are being merged"; }

bool shows_progress(const Why& why, const std::string& node, const std::string& said) {
  if (const auto* one = find_reason<NodeSays>(why); one != nullptr && one->node == node)
    return one->said == said;
  const auto* all = find_reason<WaitsForParts>(why);
  return all != nullptr &&
         std::any_of(all->parts.begin(), all->parts.end(), [&](const PartProgress& part) {
           return part.node == node && part.said == said && progress_text(*all, part) == said;
         });
}

}  // namespace lockstep::words
