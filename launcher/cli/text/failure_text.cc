// The text of `run` and `job stream` about a job that failed.

#include <fmt/format.h>

#include "common/base/redrawn.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/found_lines.h"
#include "launcher/cli/text/pipeline_view.h"
#include "launcher/cli/text/rank_view.h"
#include "launcher/cli/text/remedies.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/words/jobs/say_ends.h"
#include "launcher/words/said.h"

namespace lockstep::cli {

namespace {

std::string first_failure(const ExitReport& report) {
  const std::string how = words::rank_end_in_short(report.cause, report.exit_code);
  const std::string where = report.node_name.empty() ? "" : " on " + report.node_name;
  const std::string when = report.time.ns == 0 ? "" : " at " + to_string(report.time);
  if (!report.rank || how.empty()) {
    const std::string what =
        report.message.empty() ? std::string(to_string(report.cause)) : in_lines(report.message, 4);
    // If it came after the message, it would look like the last line of the output.
    return when.empty() ? fmt::format("  {}\n", what)
                        : fmt::format("  {}: {}\n", when.substr(1), what);
  }
  std::string text =
      fmt::format("  {}: rank {}{}{}: {}\n",
                  report.also.empty() ? "first failure" : "one of the first failures", *report.rank,
                  where, when, how);
  if (!report.message.empty()) text += "  " + in_lines(report.message, 4) + "\n";
  return text;
}

constexpr int kShownLastLines = 20;  // the report keeps more lines; `job show -o json` has them

std::string last_output(const ExitReport& report) {
  if (report.stderr_tail.empty()) return "";
  std::string text = "  its last lines on stderr:\n";
  std::string_view rest = report.stderr_tail;
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  std::size_t start = rest.size();
  for (int lines = 0; lines < kShownLastLines && start != std::string_view::npos; ++lines)
    start = start == 0 ? std::string_view::npos : rest.rfind('\n', start - 1);
  if (start != std::string_view::npos) rest.remove_prefix(start + 1);
  while (!rest.empty()) {
    const auto newline = rest.find('\n');
    text += "    | " + printable(last_state(rest.substr(0, newline))) + "\n";
    if (newline == std::string_view::npos) break;
    rest.remove_prefix(newline + 1);
  }
  return text;
}

// Whether the environment failed: ranks then have no logs, but the environment has one.
bool failed_before_its_ranks(const JobView& job) {
  return job.spec.environment && !job.attempts.empty() && job.attempts.back().started.ns == 0;
}

// The command that shows more; for a pipeline, about the step that failed first.
std::string where_to_look(const JobView& job, const ExitReport& report) {
  const StepView* step = first_failed_step(job);
  const std::string& name = step == nullptr ? job.spec.name : step->job.value;
  if (report.cause == Cause::environment_failed || (!report.rank && failed_before_its_ranks(job)))
    return "lockstep environment log " + name;
  if (report.rank) return fmt::format("lockstep job logs {} --rank {}", name, *report.rank);
  if (step != nullptr || !job.attempts.empty()) return "lockstep job logs " + name;
  return job.spec.is_pipeline() ? "lockstep job show " + name : "";
}

}  // namespace

std::string failure_report(const JobView& job) {
  if (job.status == JobStatus::completed || !is_final(job.status)) return "";
  const std::string name = in_one_line(job.spec.name);
  if (!job.report)
    return fmt::format("job {} {}{}\n", name, to_string(job.status),
                       job.reason.empty() ? "" : ": " + printable(job.reason));
  const ExitReport& report = *job.report;
  std::string text = fmt::format(
      "job {} {}{}\n", name, to_string(job.status),
      job.attempts.size() > 1 ? fmt::format(" in attempt {}", job.attempts.size()) : "");
  text += first_failure(report);
  text += cause_lines(job, report);
  text += last_output(report);
  if (!job.attempts.empty()) text += address_lines(job.attempts.back(), report);
  if (!job.attempts.empty() && report.rank) text += ended_before_lines(job.attempts.back(), report);
  for (const NodeClock& clock : report.clocks)
    text += fmt::format(
        "  the clock of {0} is {1}; its times are corrected here, but not in what its programs "
        "print: `timedatectl set-ntp true` on {0} sets it right\n",
        clock.node_name, in_words(clock.offset));
  if (!report.terminated_ranks.empty())
    text += fmt::format("  then terminated: {}\n", words::ranks_text(report.terminated_ranks));
  text += remedies(job, report);
  text += other_steps_report(job);
  if (const std::string look = where_to_look(job, report); !look.empty())
    text += "  look at it with: " + look + "\n";
  return printable(text);
}

int exit_code_of(const JobView& job) {
  if (job.status == JobStatus::completed) return 0;
  if (job.report && job.report->exit_code != 0) return job.report->exit_code;
  return job.status == JobStatus::canceled ? 130 : 125;
}

}  // namespace lockstep::cli
