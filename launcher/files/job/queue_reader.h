#pragma once
// `queue_settings`, `lockstep.after` and `lockstep.not_before` of a job file.

#include "common/domain/job/queue_settings.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads a job's name, or a list of names and of mappings {job: NAME, when: completed|ended}. Errors
// have the place of the entry.
Result<std::vector<After>> read_after(const Source& source, const YamlNode& node);

// The note about a tier that has no effect here; "": the tier has an effect.
std::string note_of_tier(JobTier tier);

}  // namespace lockstep::spec
