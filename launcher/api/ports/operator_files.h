#pragma once
// The operator's files about this cluster's datastores and environments, read at the time of each
// call. Errors are for the operator: they begin with FILE:LINE:COLUMN, or tell which file could not
// be read.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/api/ports/datastores.h"
#include "launcher/files/environment/environment_map.h"

namespace lockstep::launcher {

class OperatorFiles {
 public:
  virtual ~OperatorFiles() = default;
  // The datastores of the file; without a file, those of Azure's workspaces alone, or none.
  virtual Result<Datastores> datastores() const = 0;
  // The environment of the first of `keys` that the map of environments has; nullopt: it has none
  // of them, or there is no map.
  virtual Result<std::optional<RegisteredEnvironment>> find_environment(
      const std::vector<std::string>& keys) const = 0;
  // The environments of the images that the map has. All of `images` must be valid names.
  virtual Result<spec::MappedImages> find_images(const std::set<std::string>& images) const = 0;
  // The path of the map of environments, for people.
  virtual std::string environments_map() const = 0;
};

}  // namespace lockstep::launcher
