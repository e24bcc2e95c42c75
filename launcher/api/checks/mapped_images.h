#pragma once
// Applies the operator's environments.map to the images of a submission
// (docs/decisions/058-images-without-an-engine.md). It reads no file.

#include <functional>
#include <set>
#include <string>

#include "common/domain/job/spec.h"
#include "launcher/files/environment/environment_map.h"

namespace lockstep::launcher {

// The images among these, which are valid names, that the map has. An error: the map is wrong.
using FindMappedImages =
    std::function<Result<spec::MappedImages>(const std::set<std::string>& images)>;

// Replaces images that the map has by the environments to which they are mapped, in the job's spec
// and in its steps' specs; `replaced_environment` keeps the former value. The field is cleared in
// all other jobs, so that a client cannot set it. `find` is called only if there is an image.
// Errors name the step.
Status replace_images(JobSpec& spec, const FindMappedImages& find);

}  // namespace lockstep::launcher
