#include "launcher/core/explain_reuse.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/quoted_name.h"
#include "launcher/core/step_key.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxJobsLookedAt = 2'000;

const PipelineStep* step_of(const State& state, const Job& job) {
  const Job* parent = state.job(job.spec.parent);
  if (parent == nullptr || !parent->spec.pipeline) return nullptr;
  return &parent->spec.pipeline->steps[parent->steps->index_of(job.spec.step)];
}

// The newest job of the same step, submitted before, that completed; of another pipeline of the
// same person and family.
const Job* run_before(const State& state, const Job& job) {
  std::size_t looked_at = 0;
  const auto& all = state.submitted();
  for (auto it = std::make_reverse_iterator(all.find(job.order)); it != all.rend(); ++it) {
    if (++looked_at > kMaxJobsLookedAt) return nullptr;
    const Job& other = *state.job(it->second);
    const bool is_same = other.spec.step == job.spec.step &&
                         other.spec.submitter == job.spec.submitter &&
                         other.spec.project == job.spec.project && other.family == job.family;
    if (is_same && other.finish && other.finish->status == JobStatus::completed) return &other;
  }
  return nullptr;
}

// Why no earlier run is looked for; "": one is.
std::string why_not_reusable(const State& state, const Job& job) {
  const PipelineStep* step = step_of(state, job);
  if (step != nullptr && !step->reuse)
    return "no result is reused: force_rerun, or is_deterministic: false";
  if (job.spec.outputs.empty())
    return "no result is reused: the step has no outputs, so it was written for its effect";
  if (!job.reuse_key)
    return "no result is reused: the step has a secret, begins from a checkpoint, or reads an "
           "input in place";
  return "";
}

void explain_step(const State& state, const Job& job, const std::function<bool(const Job&)>& reads,
                  ReuseExplained& explained) {
  std::vector<std::string>& lines = explained.lines;
  lines.push_back(fmt::format("step '{}' of pipeline {}", job.spec.step, job.spec.parent.value));
  if (std::string why = why_not_reusable(state, job); !why.empty())
    return lines.push_back(std::move(why));
  const Job* before = run_before(state, job);
  if (before == nullptr) return lines.push_back("no earlier job of this step has completed");
  if (!reads(*before))
    return lines.push_back("rerun: no earlier run of this step had the same content");
  RerunView rerun{before->id, differences(before->spec, job.spec)};
  if (rerun.changes.empty())
    return lines.push_back(
        fmt::format("job '{}' had the same content, but completed later", before->id.value));
  lines.push_back(rerun_line(rerun));
  explained.rerun = std::move(rerun);
}

// "3 files, first train.csv (1 added, 2 changed)".
std::string files_text(const FileChanges& files) {
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

std::string rerun_line(const RerunView& rerun) {
  std::vector<std::string> parts;
  for (const PartChange& change : rerun.changes) {
    const bool has_files = change.files && !change.files->first.empty();
    parts.push_back(fmt::format("{}{} changed", change.part == "code" ? "the " : "", change.part));
    if (has_files) parts.back() += ": " + files_text(*change.files);
  }
  return fmt::format("rerun because {} (since job '{}')", fmt::join(parts, "; "),
                     rerun.before.value);
}

ReuseExplained explain_reuse(const State& state, const Job& job,
                             const std::function<bool(const Job&)>& reads) {
  ReuseExplained explained;
  if (!job.spec.step.empty()) {
    explain_step(state, job, reads, explained);
    return explained;
  }
  if (!job.steps) return explained;
  for (std::size_t i = 0; i < job.steps->all().size(); ++i) {
    const Steps::Step& at = job.steps->all()[i];
    if (at.reused)
      explained.lines.push_back(
          fmt::format("step '{}' reuses the outputs of job '{}', which had the same content",
                      job.spec.pipeline->steps[i].name, at.job.value));
  }
  return explained;
}

}  // namespace lockstep::launcher
