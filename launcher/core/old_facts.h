#pragma once
// Fills in fields that are missing in facts of earlier versions, by the rules of those versions. A
// function in this file never changes: replaying an old journal must not depend on what a launcher
// would decide today.

#include "common/domain/job_spec.h"

namespace lockstep::launcher {

// The value of PartPlacement::whole for journals of up to 0.5.
inline bool took_whole_node_in_0_5(const JobSpec& spec) {
  const ResourceRequest& asked = spec.resources;
  return !asked.cpus && !asked.memory && !asked.gpus;
}

}  // namespace lockstep::launcher
