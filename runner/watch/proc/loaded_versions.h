#pragma once
// Finds the versions of MPI, NCCL and torch that a process has loaded, by the names of the files in
// its memory map and of the files beside them. Names and texts are the job's own: they are bounded,
// only text in the form of a version is taken, and they are read below the process's root without
// following links.

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ranks/standing.h"
#include "runner/watch/proc/proc_reader.h"

namespace lockstep::runner {

// Paths of the libraries, as the process has them; "": not loaded.
struct LoadedLibraries {
  std::string mpi, nccl, torch;
  friend bool operator==(const LoadedLibraries&, const LoadedLibraries&) = default;
};
LoadedLibraries parse_maps(std::string_view maps);

// "40.30.4" of "/usr/lib/libmpi.so.40.30.4"; "": it says none.
std::string version_in_name(std::string_view path);
// "2.20.5" of the folder nvidia_nccl_cu12-2.20.5.dist-info among these names.
std::string nccl_version_among(const std::vector<std::string>& names);
// "2.3.0+cu121" of torch/version.py.
std::string version_in_python(std::string_view text);

// Takes some milliseconds: once or twice in a rank's life.
Versions read_versions(const ProcReader& proc, int pid);

}  // namespace lockstep::runner
