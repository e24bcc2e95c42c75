#pragma once
// The operator's datastores.yml: a mapping of names to storage.
//
//   scratch: {directory: /data/scratch}
//   faces: {directory: /data/faces, read_only: true, projects: [vision]}
//   lake: {rclone: "minio:bucket/sets", config: rclone.conf, users: [alice]}
//   default: scratch
//
// `default` is ${{default_datastore}} in the paths of outputs; a mapping makes it a name as others.
// `config` is rclone's own configuration file, relative to this file's folder. The remote must be a
// section of it, so that nothing else can be reached.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/datastore.h"

namespace lockstep::spec {

struct Datastore {
  DatastoreView view;  // everything but `config`
  std::string config;  // rclone's configuration file: absolute; never shown to users
  bool is_default = false;
  friend bool operator==(const Datastore&, const Datastore&) = default;
};

// Reads the datastores, sorted by name. Errors begin with FILE:LINE:COLUMN, one line for each
// fault. `name` is absolute.
Result<std::vector<Datastore>> read_datastores(const std::string& name, std::string_view text);

// Reads the file at `path`. If it does not exist, there are no datastores. permission_denied: an
// account other than root and this process's user can change it.
Result<std::vector<Datastore>> load_datastores(const std::string& path);

// The datastores of each Azure workspace: adds those that `stores` lacks, as folders below `folder`
// that are made if they are missing. The first is the default one unless there is one.
inline constexpr std::array<std::string_view, 2> kWorkspaceDatastores = {"workspaceblobstore",
                                                                         "workspaceartifactstore"};
Result<std::vector<Datastore>> with_workspace_datastores(std::vector<Datastore> stores,
                                                         const std::string& folder);

}  // namespace lockstep::spec
