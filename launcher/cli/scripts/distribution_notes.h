#pragma once
// Notes on a job whose ranks would not know of each other, though its program asks for that: a
// forgotten `--distribution`, or a program that starts ranks itself (mpirun, torchrun, srun), in
// the command or in a shell script that it names. Also notes on programs and variables of Slurm
// there. Pure, except that `read` reads files.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/job/spec.h"

namespace lockstep::cli {

// The beginning of a file of the source folder, by its path in it; nullopt: there is no such file.
using ReadSource = std::function<std::optional<std::string>(const std::string& path)>;
// Reads at most 4 MiB of a regular file below `source`; `source` may be one file, which then is the
// only one.
ReadSource source_reader(const std::string& source);

// The notes, one line each, for the spec of a command job. `sbatch`: the Slurm script that the
// command has, of which notes_on_body has said all; "": none.
std::vector<std::string> distribution_notes(const JobSpec& spec, const ReadSource& read,
                                            const std::string& sbatch = "");

}  // namespace lockstep::cli
