#pragma once
// The paths where an attempt's ranks write: the folders that are always collected, and the working
// directory that contains them; and whether the ranks left anything there.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/job/spec.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::agent {

struct Place {
  OutputKind kind = OutputKind::outputs;
  std::string name;
  std::string folder;  // a folder of the working directory
  OutputType type = OutputType::uri_folder;
};
std::vector<Place> places_of(const JobSpec& spec);

// The workspace plan of an attempt; nullopt: its workspace was never staged, so its ranks wrote
// nothing.
std::optional<WorkspacePlan> plan_of(const io::AttemptDir& directory);

bool is_overlay(const WorkspacePlan& plan);

// The directory with the files that ranks wrote: the overlay's upper directory, or the working
// directory itself, which may be at another path while they run: common/io/attempt/working_place.h.
std::string written_below(const WorkspacePlan& plan, const io::AttemptDir& directory);

// Whether there may be anything to collect. Takes a few system calls.
bool is_anything_left(const Assignment& assignment, const io::AttemptDir& directory);

}  // namespace lockstep::agent
