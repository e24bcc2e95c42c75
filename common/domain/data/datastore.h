#pragma once
// Datastores: names that the launcher's operator gives to directories of the nodes and to remotes
// of rclone. They are configuration (launcher/files/data/datastores_file.h), no state of the
// launcher.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"

namespace lockstep {

enum class DatastoreKind {
  directory,  // a directory that has the same path on every node and is used in place
  rclone,     // a remote of rclone, fetched by the launcher
};
Word describe(DatastoreKind kind);
std::string_view to_string(DatastoreKind kind);

inline constexpr std::size_t kMaxDatastores = 1'000;
inline constexpr std::size_t kMaxDatastoreUsers = 1'000;  // the most users of one datastore, and
                                                          // the most projects
inline constexpr std::size_t kMaxDatastoreNameBytes = 100;
inline constexpr std::size_t kMaxDatastorePathBytes = 4096;

// A datastore as a user sees it. Users do not learn the place of a remote; `remote`, `users` and
// `projects` are empty for all but admins.
struct DatastoreView {
  std::string name;
  DatastoreKind kind = DatastoreKind::directory;
  std::string directory;  // the path, for kind `directory`
  std::string remote;     // the remote of rclone, for kind `remote`: "REMOTE:PATH"
  bool read_only = false;
  std::vector<std::string> users, projects;  // the users and projects that may use it; both empty:
                                             // everybody
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "kind", s.kind);
    see(field<3>, "directory", s.directory);
    see(field<4>, "remote", s.remote);
    see(field<5>, "read_only", s.read_only);
    see(field<6>, "users", s.users, {.count = kMaxDatastoreUsers});
    see(field<7>, "projects", s.projects, {.count = kMaxDatastoreUsers});
  }
  friend bool operator==(const DatastoreView&, const DatastoreView&) = default;
};

// A path below a datastore's directory. A node opens it with the rights of the job's user, and
// below the directory only.
struct DatastorePath {
  std::string datastore;  // the datastore's name, for people
  std::string directory;  // absolute
  std::string path;       // relative, without ".."; "": the directory itself
  static void table(auto& s, auto&& see) {
    see(field<1>, "datastore", s.datastore);
    see(field<2>, "directory", s.directory);
    see(field<3>, "path", s.path);
  }
  friend bool operator==(const DatastorePath&, const DatastorePath&) = default;

  std::string whole() const { return path.empty() ? directory : directory + "/" + path; }
};
Status validate(const DatastorePath& place);

bool valid_datastore_name(std::string_view name);
// The rule in words: "1 to 100 letters, digits, '_' or '-', beginning with a letter or a digit".
std::string datastore_name_form();

}  // namespace lockstep
