#pragma once
// The names of jobs that pipelines make of their steps, and arrays of their tasks: NAME_STEP. While
// a pipeline is known, these belong to its owner, so that nobody else's job is taken for a step.
// Pure. docs/guide-pipelines.md

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// The pipeline's name with the step's; a long one is cut, and has a digest.
JobId base_name_of_step(const std::string& pipeline, const std::string& step);

// The name of the job that the step becomes now: as above, with a number if a job has that.
JobId name_of_step(const State& state, const Job& pipeline, const std::string& step);

// already_exists: the name belongs to a step of a pipeline that is known: of another user, or of
// one that has not ended.
std::optional<Error> is_name_of_step(const Cluster& cluster, const JobSpec& spec);

// already_exists: the job of a step of this pipeline would have the name of another user's job.
std::optional<Error> step_name_is_taken(const Cluster& cluster, const JobSpec& spec);

// Of a pipeline, one line for each step whose job gets a number, since its owner has a job with the
// name. At most kMaxRenamedSteps.
inline constexpr std::size_t kMaxRenamedSteps = 5;
std::vector<std::string> renamed_steps(const Cluster& cluster, const JobSpec& spec);

// One line for each job of somebody else's that the job or a step of it refers to: by its data, its
// checkpoint, or to run after it.
std::vector<std::string> jobs_of_others(const State& state, const JobSpec& spec);

}  // namespace lockstep::launcher
