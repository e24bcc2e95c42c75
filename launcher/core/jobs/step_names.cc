#include "launcher/core/jobs/step_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "common/base/digest.h"
#include "common/domain/data/data_reference.h"
#include "common/domain/job/pipeline.h"
#include "common/grammar/job_name.h"

namespace lockstep::launcher {
namespace {

std::string_view noun_of(const PipelineSpec& pipeline) {
  return pipeline.array.empty() ? "step" : "task";
}

// "sweep_3_2" -> "sweep_3": removes the number that a step's job gets when its own name is taken.
std::string without_number(const std::string& name) {
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto end = std::find_if_not(name.rbegin(), name.rend(), digit);
  if (end == name.rbegin() || end == name.rend() || *end != '_') return "";
  return name.substr(0, static_cast<std::size_t>(name.rend() - end) - 1);
}

// The step whose job has this name; null: the pipeline does not have the step.
const PipelineStep* step_called(const Job& pipeline, const std::string& name) {
  for (const PipelineStep& step : pipeline.spec.pipeline->steps) {
    const std::size_t whole = pipeline.id.value.size() + 1 + step.name.size();
    if (whole != name.size() && whole < kMaxJobNameBytes / 2) continue;
    if (base_name_of_step(pipeline.id.value, step.name).value == name) return &step;
  }
  return nullptr;
}

struct StepOwner {
  const Job* pipeline = nullptr;
  const PipelineStep* step = nullptr;
};

// The owner of the name: one of the pipelines whose name is a prefix of it has such a step.
std::optional<StepOwner> owner_of_name(const State& state, const std::string& name) {
  for (auto end = name.find('_'); end != name.npos; end = name.find('_', end + 1)) {
    const Job* pipeline = state.job(JobId(name.substr(0, end)));
    if (pipeline == nullptr || !pipeline->spec.pipeline) continue;
    if (const PipelineStep* step = step_called(*pipeline, name)) return StepOwner{pipeline, step};
  }
  return std::nullopt;
}

}  // namespace

JobId base_name_of_step(const std::string& pipeline, const std::string& step) {
  constexpr std::size_t kTail = 24;  // characters kept for a number or a digest
  std::string base = pipeline + "_" + step;
  std::replace(base.begin(), base.end(), '.', '_');
  if (base.size() > kMaxJobNameBytes - kTail)
    base = base.substr(0, kMaxJobNameBytes - kTail) + "_" + sha256(base).hex().substr(0, 12);
  return JobId(base);
}

JobId name_of_step(const State& state, const Job& pipeline, const std::string& step) {
  const JobId base = base_name_of_step(pipeline.id.value, step);
  JobId name = base;
  for (int number = 2; state.job(name) != nullptr; ++number)
    name = JobId(base.value + "_" + std::to_string(number));
  return name;
}

std::optional<Error> is_name_of_step(const Cluster& cluster, const JobSpec& spec) {
  std::optional<StepOwner> found = owner_of_name(cluster.state, spec.name);
  if (const std::string base = without_number(spec.name); !found && !base.empty())
    found = owner_of_name(cluster.state, base);
  if (!found) return std::nullopt;
  const Job& pipeline = *found->pipeline;
  const bool is_own = pipeline.spec.submitter == spec.submitter;
  if (is_own && is_final(pipeline.status())) return std::nullopt;
  const std::string_view noun = noun_of(*pipeline.spec.pipeline);
  return make_error(
      ErrorCode::already_exists,
      fmt::format("the name '{}' belongs to {} '{}' of job '{}'{}; choose another name", spec.name,
                  noun, found->step->name, pipeline.id.value,
                  is_own ? ", which has not ended" : ", which is another user's"));
}

std::optional<Error> step_name_is_taken(const Cluster& cluster, const JobSpec& spec) {
  if (!spec.pipeline) return std::nullopt;
  for (const PipelineStep& step : spec.pipeline->steps) {
    const JobId name = base_name_of_step(spec.name, step.name);
    const Job* other = cluster.state.job(name);
    if (other == nullptr || other->spec.submitter == spec.submitter) continue;
    return make_error(
        ErrorCode::already_exists,
        fmt::format("the job of {} '{}' would be called '{}', but another user has a job of this "
                    "name, which could be taken for it; choose another name",
                    noun_of(*spec.pipeline), step.name, name.value));
  }
  return std::nullopt;
}

std::vector<std::string> renamed_steps(const Cluster& cluster, const JobSpec& spec) {
  std::vector<std::string> lines;
  if (!spec.pipeline) return lines;
  std::size_t more = 0;
  for (const PipelineStep& step : spec.pipeline->steps) {
    const JobId name = base_name_of_step(spec.name, step.name);
    const Job* other = cluster.state.job(name);
    if (other == nullptr || other->spec.parent == JobId(spec.name)) continue;
    if (lines.size() >= kMaxRenamedSteps) {
      ++more;
      continue;
    }
    lines.push_back(
        fmt::format("the job of {0} '{1}' gets another name than '{2}', which a job of "
                    "yours has; '{3}/{1}' names it",
                    noun_of(*spec.pipeline), step.name, name.value, spec.name));
  }
  if (more != 0)
    lines.push_back(fmt::format("so do those of {} more {}s", more, noun_of(*spec.pipeline)));
  return lines;
}

std::vector<std::string> jobs_of_others(const State& state, const JobSpec& spec) {
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> lines;
  std::set<JobId> seen;
  const auto look = [&](const JobId& id) {
    const Job* job = state.job(id);
    if (job == nullptr || job->spec.submitter == spec.submitter || !seen.insert(id).second) return;
    if (lines.size() < kMostNamed)
      lines.push_back(fmt::format("job '{}' is {}'s", id.value, job->spec.submitter));
  };
  const auto look_at = [&](const JobSpec& one) {
    for (const DataInput& input : one.data) {
      const auto reference = parse_data_reference(input.source);
      if (!reference || !*reference) continue;
      if (const auto* output = std::get_if<JobOutputReference>(&**reference)) look(output->job);
    }
    look(one.from_checkpoint_of);
    for (const After& after : one.queue.after) look(after.job);
  };
  look_at(spec);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) look_at(step.spec);
  return lines;
}

}  // namespace lockstep::launcher
