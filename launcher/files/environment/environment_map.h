#pragma once
// The operator's map of environments: definitions for names and addresses that nobody registered
// here, such as Azure's registries', and for images, which then need no container engine.
//
//   azureml://registries/azureml/environments/sklearn-1.5/labels/latest: sklearn.yml
//   tools: {requirements: [numpy==1.26.4]}
//   library/python:3.11: python.yml
//   library/busybox:latest: none
//
// A path is relative to the map's folder. A key is an image's if it has a '/' and is not an
// address, or ends with ":latest". Only the requested value is checked.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/files/environment/environment_reader.h"

namespace lockstep::spec {

// The entry of the map at `path` for the first of `keys` that it has; nullopt: it has none of them,
// or does not exist. Errors begin with FILE:LINE:COLUMN, in the map or in the file that it names.
Result<std::optional<RegisteredEnvironment>> find_in_map(const std::string& path,
                                                         const std::vector<std::string>& keys,
                                                         const ReadText& read_text);

// The environment of each requested image; nullopt: each node's PATH as it is. Images that the map
// does not have are left out.
using MappedImages = std::map<std::string, std::optional<EnvironmentSpec>>;

// Finds images. `images` are valid names; they are compared as normal_image_name. The keys of all
// images in the map are checked. Errors as above.
Result<MappedImages> find_images_in_map(const std::string& path,
                                        const std::set<std::string>& images,
                                        const ReadText& read_text);

}  // namespace lockstep::spec
