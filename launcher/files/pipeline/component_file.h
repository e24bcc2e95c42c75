#pragma once
// Reads a component's file (a command or a pipeline, as for az ml) in order to register it: its
// name and texts, and which files it needs to run elsewhere (docs/decisions/
// 060-registered-components.md). All that it says is checked, as if a step used it. It captures
// nothing.

#include <string>
#include <utility>
#include <vector>

#include "common/domain/data/asset.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/pipeline/component_reader.h"

namespace lockstep::spec {

// Paths are relative to `root`; a folder is "" if it is `root` itself.
struct ComponentFile {
  RegisteredAsset asset;  // without its tree
  std::string root;       // absolute; the lowest folder that has all files below
  // the component's own file, and the files of components and environments
  std::vector<std::string> files;
  std::vector<std::string> sources;  // folders of code, to which ignore rules apply
  std::vector<std::string> folders;  // folders of data and of image builds, which are taken whole
  Notes notes;
};

struct ComponentOptions {
  // the values over the file's: name, version, description
  std::vector<std::pair<std::string, std::string>> values;
  std::map<std::string, std::string> tags;  // tags to add to the file's tags
};

// Reads a component to register. An error lists the problems, one per line (faults.h). A registered
// component may not name an absolute path, which another machine does not have; the newest version
// of another component, which would change what this version means.
Result<ComponentFile> load_component(const std::string& path, const ComponentOptions& options,
                                     const FindComponent& find);

// Checks that each file that a copy of a component names is in `folder`, after following symlinks;
// else returns permission_denied. Another user may have registered the component, and otherwise our
// job would send other files of this machine.
Status check_is_inside(const std::string& folder, const ComponentFile& copy);

}  // namespace lockstep::spec
