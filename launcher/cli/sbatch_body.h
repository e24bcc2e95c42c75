#pragma once
// What in the commands of a Slurm batch script is otherwise here. Pure.

#include <string>
#include <vector>

namespace lockstep::cli {

// A line for the first `srun` or `mpirun`, and one for each of Slurm's variables that the script
// names: "train.sbatch:9: SLURM_PROCID is not set; use LOCKSTEP_RANK".
std::vector<std::string> notes_on_body(const std::string& file, const std::string& text);

}  // namespace lockstep::cli
