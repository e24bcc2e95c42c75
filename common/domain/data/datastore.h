#pragma once
// Datastores: names that the launcher's operator gives to directories of the nodes and to remotes
// of rclone. They are configuration (launcher/files/data/datastores_file.h), no state of the
// launcher.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep {

enum class DatastoreKind {
  directory,  // the same path on every node, used in place
  rclone,     // fetched by the launcher
};
std::string_view to_string(DatastoreKind kind);

// A datastore as a user sees it. Whoever may use it learns nothing of where a remote is; `remote`,
// `users` and `projects` are empty for all but admins.
struct DatastoreView {
  std::string name;
  DatastoreKind kind = DatastoreKind::directory;
  std::string directory;  // of a directory
  std::string remote;     // of rclone: "REMOTE:PATH"
  bool read_only = false;
  std::vector<std::string> users, projects;  // that may use it; both empty: everybody
  friend bool operator==(const DatastoreView&, const DatastoreView&) = default;
};

// A path below a datastore's directory. A node opens it with the rights of the job's user, and
// below the directory only.
struct DatastorePath {
  std::string datastore;  // its name, for people
  std::string directory;  // absolute
  std::string path;       // relative, without ".."; "": the directory itself
  friend bool operator==(const DatastorePath&, const DatastorePath&) = default;

  std::string whole() const { return path.empty() ? directory : directory + "/" + path; }
};
Status validate(const DatastorePath& place);

inline constexpr std::size_t kMaxDatastores = 1'000;
inline constexpr std::size_t kMaxDatastoreUsers = 1'000;  // of one; the same for projects
inline constexpr std::size_t kMaxDatastoreNameBytes = 100;
inline constexpr std::size_t kMaxDatastorePathBytes = 4096;

// Letters, digits, '_' and '-', beginning with a letter or a digit.
bool valid_datastore_name(std::string_view name);

}  // namespace lockstep
