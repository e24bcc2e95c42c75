#include "launcher/cli/text/pipeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "common/domain/job/pipeline.h"
#include "common/domain/people/access.h"
#include "common/domain/why/jobs/steps.h"
#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::cli {
namespace {

bool is_over(const StepView& step) {
  return step.phase != StepPhase::waiting && step.phase != StepPhase::running;
}

// The status of a step for the steps that depend on it: one whose job was canceled has failed.
std::string_view counted_as(const StepView& step) {
  const bool is_canceled = step.phase == StepPhase::failed && step.status == JobStatus::canceled;
  return is_canceled ? to_string(JobStatus::canceled) : to_string(step.phase);
}

std::string counted_steps(std::size_t count) {
  return fmt::format("{} step{}", count, count == 1 ? "" : "s");
}

// ---- the tree -----------------------------------------------------------------------------------

// A step, or a nested pipeline with its steps, in the order in which they were first named.
struct Branch {
  std::string name;
  const StepView* step = nullptr;
  std::vector<std::unique_ptr<Branch>> below;
  std::map<std::string, Branch*> by_name = {};
};

Branch& branch_at(Branch& root, const std::string& path) {
  Branch* at = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    Branch*& next = at->by_name[name];
    if (next == nullptr) {
      at->below.push_back(std::make_unique<Branch>(Branch{name, nullptr, {}}));
      next = at->below.back().get();
    }
    at = next;
    begin = end + 1;
  }
  return *at;
}

std::string time_it_ran(const StepView& step, Instant now) {
  if (step.started.ns == 0) return "-";
  const Instant end = step.ended.ns != 0 ? step.ended : now;
  return format_duration(std::max(end - step.started, Duration::zero()));
}

std::string why_of(const StepView& step) {
  if (step.phase == StepPhase::reused) return "reused from " + step.job.value;
  return in_one_line(step.reason);
}

class StepTable {
 public:
  StepTable(const std::vector<const StepView*>& steps, Instant now)
      : now_(now), has_targets_(std::any_of(steps.begin(), steps.end(), [](const StepView* step) {
          return !step->compute.empty() && step->compute != "local";
        })) {
    Branch root;
    for (const StepView* step : steps) branch_at(root, step->name).step = step;
    add_below(root, 0);
  }
  std::string text(std::optional<std::size_t> columns) const {
    std::vector<std::string> header = {"STEP", "STATE", "RAN", "JOB"};
    if (has_targets_) header.emplace_back("COMPUTE");
    header.emplace_back("WHY");
    Table table(header);
    for (const auto& row : rows_) table.add(row);
    return columns ? table.text(*columns, {"WHY"}, {}) : table.text();
  }

 private:
  void add_below(const Branch& branch, std::size_t depth) {
    for (const auto& one : branch.below) {
      add_row(*one, std::string(2 * depth, ' ') + one->name);
      add_below(*one, depth + 1);
    }
  }
  void add_row(const Branch& branch, const std::string& name) {
    const StepView* step = branch.step;
    const bool has_job =
        step != nullptr && step->phase != StepPhase::reused && !step->job.value.empty();
    std::vector<std::string> row = {name};
    row.push_back(step == nullptr ? "" : step_state(*step));
    row.push_back(step == nullptr ? "" : time_it_ran(*step, now_));
    row.push_back(step == nullptr ? "" : has_job ? step->job.value : "-");
    if (has_targets_) row.push_back(step == nullptr ? "" : step->compute);
    row.push_back(step == nullptr ? "" : why_of(*step));
    rows_.push_back(std::move(row));
  }

  const Instant now_;
  const bool has_targets_;
  std::vector<std::vector<std::string>> rows_;
};

// The steps to show: those that run or failed, then those that wait, then the others.
std::vector<const StepView*> chosen_steps(const std::vector<StepView>& steps, bool all) {
  const auto rank = [](const StepView& step) {
    if (step.phase == StepPhase::running || step.phase == StepPhase::failed) return 0;
    return step.phase == StepPhase::waiting ? 1 : 2;
  };
  std::vector<const StepView*> chosen;
  for (const StepView& step : steps) chosen.push_back(&step);
  if (all || chosen.size() <= kMostStepsShown) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  chosen.resize(kMostStepsShown);
  // All point into one vector, so this gives the pipeline's order.
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::string tree_text(const JobView& job, Instant now, const StepsShown& how) {
  const auto shown = chosen_steps(job.steps, how.all);
  if (shown.empty()) return "";
  std::string text = StepTable(shown, now).text(how.columns);
  if (shown.size() == job.steps.size()) return text;
  std::vector<StepView> others;
  auto next = shown.begin();
  for (const StepView& step : job.steps)
    if (next != shown.end() && *next == &step)
      ++next;
    else
      others.push_back(step);
  return text + fmt::format("and {} more: {}; --all-steps shows all\n", others.size(),
                            steps_summary(others));
}

// ---- the record ---------------------------------------------------------------------------------

// "model (train.weights), report (score.out)".
std::string outputs_text(const PipelineSpec& pipeline) {
  std::string text;
  for (const PipelineOutput& output : pipeline.outputs)
    text += fmt::format("{}{} ({}.{})", text.empty() ? "" : ", ", output.name, output.step,
                        output.output);
  return text;
}

std::string pairs_of_map(const std::map<std::string, std::string>& map) {
  std::string text;
  for (const auto& [key, value] : map)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  return text;
}

std::string record_text(const JobView& job, Instant now) {
  const JobSpec& spec = job.spec;
  const Instant end = job.ended.ns != 0 ? job.ended : now;
  Lines lines;
  lines.add("name", spec.name);
  lines.add("status", to_string(job.status));
  lines.add("reason", in_one_line(job.reason));
  lines.add("display name", spec.display_name);
  lines.add("experiment", spec.experiment_name);
  lines.add("description", spec.description);
  lines.add("tags", pairs_of_map(spec.tags));
  lines.add("inputs", pairs_of_map(spec.inputs));
  lines.add("outputs", outputs_text(*spec.pipeline));
  lines.add("on failure", is_final(job.status) || spec.pipeline->continue_on_step_failure
                              ? ""
                              : "no further step begins (continue_on_step_failure: false)");
  lines.add("submitted", fmt::format("{} ({} ago) by {}", to_string(job.submitted),
                                     format_duration(std::max(now - job.submitted, Duration{})),
                                     spec.submitter));
  if (job.shared)
    lines.add("shared", "with project " +
                            (spec.project.empty() ? std::string(kDefaultProject) : spec.project));
  lines.add("archived", archived_text(job));
  if (job.ended.ns != 0) lines.add("ended", to_string(job.ended));
  lines.add("took", format_duration(std::max(end - job.submitted, Duration{})));
  if (job.report) lines.add("exit code", std::to_string(job.report->exit_code));
  for (const MergedOutput& output : job.merged)
    if (!output.registered.empty())
      lines.add("registered", fmt::format("output '{}' as {}", output.name, output.registered));
  for (const MergedOutput& output : job.merged)
    for (const std::string& problem : output.problems)
      lines.add("warning", fmt::format("output '{}': {}", output.name, problem));
  if (!job.steps.empty())
    lines.add("steps", fmt::format("{}: {}", job.steps.size(), steps_summary(job.steps)));
  return lines.text();
}

}  // namespace

std::string steps_shape(const JobView& job) {
  if (job.steps.empty()) return "pipeline";
  return fmt::format("{}/{}", std::count_if(job.steps.begin(), job.steps.end(), is_over),
                     counted_steps(job.steps.size()));
}

std::string steps_summary(const std::vector<StepView>& steps) {
  std::map<std::string_view, std::size_t> counts;
  for (const StepView& step : steps) ++counts[counted_as(step)];
  std::string text;
  for (const std::string_view word :
       {to_string(StepPhase::completed), to_string(StepPhase::reused), to_string(StepPhase::failed),
        to_string(JobStatus::canceled), to_string(StepPhase::skipped),
        to_string(StepPhase::running), to_string(StepPhase::waiting)})
    if (counts.contains(word))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[word], word);
  return text;
}

std::string step_state(const StepView& step) {
  const bool by_job = step.phase == StepPhase::running || step.phase == StepPhase::failed;
  return std::string(by_job && step.status ? to_string(*step.status) : to_string(step.phase));
}

std::string pipeline_text(const JobView& job, Instant now, const StepsShown& shown) {
  return record_text(job, now) + tree_text(job, now, shown);
}

const StepView* first_failed_step(const JobView& job) {
  const auto* failed = job.why.as<StepEndedBadly>();
  const StepView* first = nullptr;
  for (const StepView& step : job.steps) {
    if (step.phase != StepPhase::failed) continue;
    if (failed != nullptr && failed->step == step.name) return &step;
    if (first == nullptr) first = &step;
  }
  return first;
}

std::string other_steps_report(const JobView& job) {
  constexpr std::size_t kMostLines = 10;
  const StepView* first = first_failed_step(job);
  std::vector<std::string> failed, reasons;
  std::map<std::string, std::vector<std::string>> not_run;  // steps that did not run, by reason
  for (const StepView& step : job.steps) {
    if (step.phase == StepPhase::failed && &step != first)
      failed.push_back(fmt::format("  step '{}' (job {}) {} too{}\n", step.name, step.job.value,
                                   step_state(step) == "Canceled" ? "was canceled" : "failed",
                                   step.reason.empty() ? "" : ": " + in_one_line(step.reason)));
    if (step.phase != StepPhase::skipped) continue;
    if (not_run.count(step.reason) == 0) reasons.push_back(step.reason);
    not_run[step.reason].push_back(step.name);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(failed.size(), kMostLines); ++i) text += failed[i];
  if (failed.size() > kMostLines)
    text += fmt::format("  and {} more failed\n", failed.size() - kMostLines);
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostLines); ++i) {
    auto& names = not_run[reasons[i]];
    const std::size_t more = names.size() > 3 ? names.size() - 3 : 0;
    names.resize(names.size() - more);
    text +=
        fmt::format("  not run: {}{} ({})\n", fmt::join(names, ", "),
                    more == 0 ? "" : fmt::format(" and {} more", more), in_one_line(reasons[i]));
  }
  return printable(text);
}

}  // namespace lockstep::cli
