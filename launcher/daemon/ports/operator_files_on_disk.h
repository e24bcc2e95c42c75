#pragma once
// Reads the operator's files again at each call, so that a change takes effect at once.

#include <string>

#include "launcher/api/ports/operator_files.h"

namespace lockstep::launcher {

class OperatorFilesOnDisk final : public OperatorFiles {
 public:
  struct Paths {
    std::string datastores;            // spec::load_datastores
    std::string workspace_datastores;  // the folder with Azure's own datastores; "": there is none
    std::string environments_map;      // spec::find_in_map
  };
  explicit OperatorFilesOnDisk(Paths paths) : paths_(std::move(paths)) {}

  Result<Datastores> datastores() const override;
  Result<std::optional<RegisteredEnvironment>> find_environment(
      const std::vector<std::string>& keys) const override;
  Result<spec::MappedImages> find_images(const std::set<std::string>& images) const override;
  std::string environments_map() const override { return paths_.environments_map; }

 private:
  const Paths paths_;
};

}  // namespace lockstep::launcher
