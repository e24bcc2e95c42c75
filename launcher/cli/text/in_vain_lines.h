#pragma once
// The lines below a list of jobs that tell the help for jobs which wait in vain. Pure.

#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// "wide: needs 5 nodes …; to change that, …": the whole reason of each job that waits in vain,
// where `table` has it cut. The reason ends with the remedy, so a cut one does not help.
std::string in_vain_lines(const std::vector<JobView>& jobs, const std::string& table);

}  // namespace lockstep::cli
