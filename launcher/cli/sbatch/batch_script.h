#pragma once
// Reads a Slurm batch script for `lockstep run --sbatch FILE`: the `#SBATCH` lines at its top
// become options of `lockstep run`, and the script becomes the command. Pure, but for the clock
// that a time of day in --begin needs.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/cli/job/run_spec.h"

namespace lockstep::cli {

// Sets options of the script that `arguments` does not have yet: as for sbatch, options of the
// command line win. `arguments.command` holds the words for the script, and becomes the command.
// Returns a line for each option that has no meaning here, or another one. Errors have the line:
// "train.sbatch:3: …".
Result<std::vector<std::string>> apply_sbatch(const std::string& file, const std::string& text,
                                              RunArguments& arguments);

}  // namespace lockstep::cli
