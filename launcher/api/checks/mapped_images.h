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

// In the job's spec and those of its steps, an image that the map has becomes the environment that
// it is mapped to, and `replaced_environment` keeps what was there. It is cleared everywhere else,
// so that a client cannot set it. `find` is called only if there is an image. Errors name the step.
Status replace_images(JobSpec& spec, const FindMappedImages& find);

}  // namespace lockstep::launcher
