#include "launcher/words/jobs/say_explain.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/quoted_name.h"
#include "common/domain/messages/views.h"
#include "launcher/words/counted_noun.h"
#include "launcher/words/job_text.h"
#include "launcher/words/nodes/say_placement.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

// "3 files, first train.csv (1 added, 2 changed)".
std::string files_text(const ChangedFiles& files) {
  const std::uint64_t all = files.added + files.removed + files.changed;
  std::string text = fmt::format("{}{} file{}, first {}", files.more ? "more than " : "", all,
                                 all == 1 ? "" : "s", quoted_name(files.first));
  std::vector<std::string> kinds;
  const auto add = [&](std::uint64_t count, std::string_view kind) {
    if (count > 0) kinds.push_back(fmt::format("{} {}", count, kind));
  };
  add(files.added, "added");
  add(files.removed, "removed");
  add(files.changed, "changed");
  const bool is_plain = kinds.size() == 1 && files.changed > 0;
  return is_plain ? text : text + fmt::format(" ({})", fmt::join(kinds, ", "));
}

}  // namespace

std::string say(const RanksAreBound& reason) {
  switch (reason.binding) {
    case Binding::automatic: return "each rank is bound to its share of the cpus";
    case Binding::none:
      return "each rank may use all cpus that the job holds on its node (lockstep.binding: none)";
    case Binding::numa: return "each rank is bound to a NUMA node (lockstep.binding: numa)";
    case Binding::core:
      return "each rank is bound to a core; to a share of the cpus on a node with fewer cores than "
             "ranks (lockstep.binding: core)";
  }
  return "";
}

std::string say(const AttemptWasPlaced& reason) {
  return fmt::format("attempt {} was placed at {}:", reason.attempt, to_string(reason.at));
}

std::string say(const SomeNodesAreApart&) { return "some of its nodes cannot reach each other"; }

std::string say(const AttemptEndedWith& reason) {
  return fmt::format("ended: {}",
                     reason.why ? text_of(reason.why) : std::string(to_string(reason.cause)));
}

std::string say(const AttemptEndedLike& reason) {
  return fmt::format("ended: as attempt {}", reason.attempt);
}

std::string say(const AttemptWasFollowed& reason) {
  return "then: " + (reason.why ? text_of(reason.why) : "retried");
}

std::string say(const PlaceInQueue& reason) {
  return fmt::format("position {} in the queue (priority {}): {}", reason.position,
                     to_string(reason.priority), text_of(reason.why));
}

// "ahead of it: job 'a' (priority high), job 'b' and 3 more".
std::string say(const JobsAreAhead& reason) {
  std::vector<std::string> named;
  for (const JobAhead& one : reason.jobs)
    named.push_back(job_text(one.job) +
                    (one.priority ? fmt::format(" (priority {})", to_string(*one.priority)) : ""));
  std::string text = fmt::format("ahead of it: {}", fmt::join(named, ", "));
  if (reason.more > 0) text += fmt::format(" and {} more", reason.more);
  return text;
}

std::string say(const ShareOfUser& reason) {
  const auto before = static_cast<std::size_t>(reason.before);
  const std::string others =
      before == 0 ? "no user with a smaller share waits"
                  : fmt::format("{} with a smaller share {} first", counted(before, "user"),
                                before == 1 ? "goes" : "go");
  return fmt::format(
      "user {} has a share of {:.2f} of target '{}' (what its jobs hold, and its recent use); "
      "within priority {} {}",
      reason.user, reason.share, reason.target, to_string(reason.priority), others);
}

std::string say(const CouldStartBefore& reason) {
  if (!reason.limit) return fmt::format("it could start only after {}", job_text(reason.job));
  return fmt::format("with a limits.timeout of at most {} it could start before {}{}",
                     format_duration(*reason.limit), job_text(reason.job),
                     reason.has ? fmt::format("; it has {}", format_duration(*reason.has)) : "");
}

std::string say(const WaitsForOwnUser& reason) {
  return fmt::format("no node is kept from other users: it waits for jobs of its own user, {}",
                     reason.user);
}

std::string say(const NodesAreKept& reason) {
  const std::string until = to_string(reason.until);
  if (reason.are_open)
    return fmt::format(
        "its nodes are open to other users until {}, as nobody knows when it can start", until);
  return fmt::format(
      "its nodes are kept until {}, then they are open to other users for a time, as nobody knows "
      "when it can start",
      until);
}

std::string say(const JobAsksFor& reason) {
  return fmt::format("asks for {}; target {}{}:", describe(reason.what), reason.target,
                     reason.size.empty() ? "" : fmt::format(" (size {})", reason.size));
}

std::string say(const IsStepOf& reason) {
  return fmt::format("step '{}' of {}", reason.step, pipeline_text(reason.pipeline));
}

std::string say(const StepReuses& reason) {
  return fmt::format("step '{}' reuses the outputs of {}, which had the same content", reason.step,
                     job_text(reason.job));
}

std::string say(const NoResultIsReused& reason) {
  switch (reason.cause) {
    case NotReused::as_asked: return "no result is reused: force_rerun, or is_deterministic: false";
    case NotReused::no_outputs:
      return "no result is reused: the step has no outputs, so it was written for its effect";
    case NotReused::no_key:
      return "no result is reused: the step has a secret, begins from a checkpoint, or reads an "
             "input in place";
  }
  return "";
}

std::string say(const NoEarlierRun&) { return "no earlier job of this step has completed"; }

std::string say(const NoRunHadThisContent&) {
  return "rerun: no earlier run of this step had the same content";
}

std::string say(const CompletedTooLate& reason) {
  return fmt::format("{} had the same content, but completed later", job_text(reason.job));
}

// "rerun because input 'data' changed: 3 files, first train.csv (since job 'p_b')".
std::string say(const RunsAgain& reason) {
  std::vector<std::string> parts;
  for (const ChangedPart& change : reason.parts) {
    parts.push_back(fmt::format("{}{} changed", change.part == "code" ? "the " : "", change.part));
    if (change.files) parts.back() += ": " + files_text(*change.files);
  }
  return fmt::format("rerun because {} (since {})", fmt::join(parts, "; "),
                     job_text(reason.before));
}

std::string text_of(const ExplainLine& line) {
  return std::string(static_cast<std::size_t>(2 * line.indent), ' ') + text_of(line.why);
}

}  // namespace lockstep::words
