#pragma once
// The job of one trial: the sweep's own spec with the trial's values put into its command, its
// variables and its literal inputs.

#include <cstddef>
#include <string>

#include "common/base/result.h"
#include "common/domain/job_spec.h"

namespace lockstep::sweeps {

// "3": what the trial is called under its sweep; its job is SWEEP_3, as on Azure.
std::string trial_name(std::size_t trial);

// Without name, parent and step. Each rank finds the values also as AZUREML_SWEEP_NAME, unless the
// file sets such a variable itself, and the trial's number as LOCKSTEP_TRIAL. An error: the values
// make the command or a variable longer than a job may have.
Result<JobSpec> trial_job(const JobSpec& sweep, std::size_t trial,
                          const TrialParameters& parameters);

}  // namespace lockstep::sweeps
