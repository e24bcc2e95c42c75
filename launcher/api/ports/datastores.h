#pragma once
// The operator's datastores, as their file says now, and files of a remote among them.

#include <string>
#include <vector>

#include "launcher/files/data/datastores_file.h"

namespace lockstep::launcher {

struct Datastores {
  std::vector<spec::Datastore> stores;  // sorted by name
  std::string file = "datastores.yml";  // the operator's file, for people
};

// Files of a remote of rclone, for the one who fetches them.
struct RemoteFiles {
  std::string remote;  // "REMOTE:PATH", from the operator's file
  std::string config;  // rclone's configuration file
  std::string path;    // below `remote`; "": all of it
  std::string shown;   // the address that the user wrote
  friend bool operator==(const RemoteFiles&, const RemoteFiles&) = default;
};

}  // namespace lockstep::launcher
