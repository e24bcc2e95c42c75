#pragma once
// Notes on commands of a Slurm batch script, or of another script that runs as a job, that behave
// otherwise here. Pure.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// The notes on a script's body: a line for the first `srun` or `mpirun`, and one for each of
// Slurm's variables that the script names: "train.sbatch:9: SLURM_PROCID is not set; use
// LOCKSTEP_RANK".
std::vector<std::string> notes_on_body(const std::string& file, const std::string& text);

// The notes for a command that is not a script: Slurm's programs for which `calls` is true, except
// those that start ranks, and its variables in `text` that the job does not set.
std::vector<std::string> notes_on_slurm(const std::function<bool(std::string_view)>& calls,
                                        std::string_view text,
                                        const std::function<bool(std::string_view)>& is_set);

}  // namespace lockstep::cli
