#include "launcher/daemon/ports/operator_files_on_disk.h"

#include <utility>

#include "launcher/files/data/datastores_file.h"

namespace lockstep::launcher {

Result<Datastores> OperatorFilesOnDisk::datastores() const {
  TRY_ASSIGN(std::vector<spec::Datastore> stores, spec::load_datastores(paths_.datastores));
  if (const std::string& folder = paths_.workspace_datastores; !folder.empty()) {
    TRY_ASSIGN(stores, spec::with_workspace_datastores(std::move(stores), folder));
  }
  return Datastores{std::move(stores), paths_.datastores};
}

Result<std::optional<RegisteredEnvironment>> OperatorFilesOnDisk::find_environment(
    const std::vector<std::string>& keys) const {
  return spec::find_in_map(paths_.environments_map, keys, spec::read_regular_text_file);
}

Result<spec::MappedImages> OperatorFilesOnDisk::find_images(
    const std::set<std::string>& images) const {
  return spec::find_images_in_map(paths_.environments_map, images, spec::read_regular_text_file);
}

}  // namespace lockstep::launcher
