#include "launcher/cli/text/attempt_text.h"

#include <fmt/format.h>

#include "common/domain/why/jobs/ends.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/environment_view.h"
#include "launcher/cli/text/network_view.h"
#include "launcher/cli/text/phrases.h"
#include "launcher/cli/text/rank_view.h"
#include "launcher/cli/text/targets/usage_view.h"
#include "launcher/words/why.h"

namespace lockstep::cli {

namespace {

std::string part_line(const PartView& part) {
  std::string line = fmt::format(
      "    {}: node rank {}, ranks {}, {}", part.node_name, part.node_rank,
      part.ranks == 1 ? std::to_string(part.first_rank)
                      : fmt::format("{}–{}", part.first_rank, part.first_rank + part.ranks - 1),
      to_string(part.state));
  if (!part.progress.empty()) line += " (" + in_one_line(part.progress) + ")";
  line += fmt::format("; cpus {}, memory {}", ranges_of(part.allotment.cpus),
                      to_string(part.allotment.memory));
  if (!part.allotment.gpus.empty()) line += ", gpus " + ranges_of(part.allotment.gpus);
  return line + "\n";
}

std::string limit_lines(const PartView& part) {
  std::string text;
  for (const auto& line : part.notes) text += "      note: " + in_one_line(line) + "\n";
  for (const auto& line : part.limits) text += "      limit: " + in_one_line(line) + "\n";
  return text;
}

std::string counted_files(std::uint64_t files, Bytes size) {
  return fmt::format("{} file{}, {}", files, files == 1 ? "" : "s", to_string(size));
}

// "      left ./outputs: 3 files, 1.2 MiB".
std::string output_lines(const PartView& part) {
  std::string text;
  for (const auto& output : part.outputs) {
    const std::string what = describe(output.kind, output.name);
    if (has_files(output))
      text += fmt::format(
          "      {} {}: {}{}\n", part.state == PartState::finished ? "left" : "so far", what,
          counted_files(output.files, output.size),
          output.partial == 0
              ? ""
              : fmt::format(", {} of them partial: still being written when sent", output.partial));
    for (const auto& problem : output.problems)
      text += fmt::format("      {}: {}\n", what, in_one_line(problem));
  }
  return text;
}

std::string begins_with(const CheckpointView& checkpoint) {
  const std::string what =
      checkpoint.tree ? counted_files(checkpoint.files, checkpoint.size) : "not there yet";
  const std::string of = checkpoint.job.value.empty() ? "" : " of job " + checkpoint.job.value;
  return fmt::format("    begins with the checkpoint of attempt {}{}, saved {}: {}\n",
                     checkpoint.attempt, of, to_string(checkpoint.saved), what);
}

// How the attempt ended and why another one followed, without repeating the end of the attempt
// before.
std::string end_of(const AttemptView& attempt, const AttemptView* before) {
  const bool failed = attempt.report && attempt.report->cause != Cause::completed;
  const auto* again = attempt.why.as<RetriedAfter>();
  std::string text = !attempt.retried.empty() ? attempt.retried  // the text begins with the message
                     : failed                 ? attempt.report->message
                                              : "";
  const bool same = failed && before != nullptr && before->report && attempt.report->why &&
                    before->report->why == attempt.report->why &&
                    (again != nullptr || attempt.retried.empty());
  if (same)
    text = fmt::format("like attempt {}{}", before->number,
                       again == nullptr ? "" : "; " + words::text_of(again->then));
  return text.empty() ? "" : "    ended: " + in_lines(text, 6) + "\n";
}

}  // namespace

std::string attempt_text(const std::string& job, const AttemptView& attempt,
                         const AttemptView* before) {
  std::string text = fmt::format("attempt {}: ", attempt.number);
  text += attempt.started.ns != 0 ? "started " + to_string(attempt.started)
                                  : "placed " + to_string(attempt.placed);
  if (attempt.ended.ns != 0) text += ", ended " + to_string(attempt.ended);
  if (attempt.report) text += fmt::format(" ({})", to_string(attempt.report->cause));
  text += "\n";
  if (attempt.checkpoint) text += begins_with(*attempt.checkpoint);
  text += network_lines(job, attempt);
  for (const auto& part : attempt.parts)
    text += part_line(part) + environment_line(part) + limit_lines(part) + rank_state_lines(part) +
            rank_use_lines(part) + output_lines(part);
  return text + end_of(attempt, before);
}

}  // namespace lockstep::cli
