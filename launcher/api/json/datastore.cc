#include "launcher/api/json/datastore.h"

namespace lockstep::api {

void keys(const DatastoreView& view, See& see) {
  see.page("datastore", "Datastore", "Storage that the launcher's operator has named.");
  see("name", view.name, "Its name.");
  see("type", view.kind, "A directory of every node, or a remote of rclone.");
  see("directory", unless_empty(view.directory), "The directory; null: a remote.");
  see("remote", unless_empty(view.remote),
      "REMOTE:PATH of rclone, for admins; null: a directory, or not for you.");
  see("read_only", view.read_only, "Jobs may not write to it.");
  see("users", view.users, "Who may use it, for admins.");
  see("projects", view.projects, "Projects that may use it, for admins.");
}

}  // namespace lockstep::api
