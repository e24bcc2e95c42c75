#pragma once
// The names of the jobs that pipelines make of their steps, and arrays of their tasks: NAME_STEP.
// While the launcher knows a pipeline, these names belong to its owner, so that another user's job
// cannot be mistaken for a step. Pure. docs/guide-pipelines.md

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// The pipeline's name with the step's. A name that is too long is shortened, and gets a digest.
JobId base_name_of_step(const std::string& pipeline, const std::string& step);

// The name of the job that the step gets now: the name above, followed by a number if a job already
// has it.
JobId name_of_step(const State& state, const Job& pipeline, const std::string& step);

// Checks a job's name. already_exists: the name belongs to a step of a known pipeline that is
// another user's or has not ended.
std::optional<Error> is_name_of_step(const Cluster& cluster, const JobSpec& spec);

// Checks a pipeline's steps. already_exists: the job of a step would have the name of another
// user's job.
std::optional<Error> step_name_is_taken(const Cluster& cluster, const JobSpec& spec);

// For a pipeline: one line for each step whose job gets a number because its owner has a job with
// the name. At most kMaxRenamedSteps.
inline constexpr std::size_t kMaxRenamedSteps = 5;
std::vector<std::string> renamed_steps(const Cluster& cluster, const JobSpec& spec);

// One line for each job of another user that the job or a step of it refers to: by its data or its
// checkpoint, or to run after it.
std::vector<std::string> jobs_of_others(const State& state, const JobSpec& spec);

}  // namespace lockstep::launcher
