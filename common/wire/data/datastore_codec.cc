#include "common/wire/data/datastore_codec.h"

namespace lockstep::pb {

static_assert(is_wire_of(lockstep::DatastoreKind::directory, DATASTORE_KIND_DIRECTORY));
static_assert(is_wire_of(lockstep::DatastoreKind::rclone, DATASTORE_KIND_RCLONE));

void to_wire(const lockstep::DatastoreView& from, DatastoreView* to) {
  to->set_name(from.name);
  to->set_kind(wire_enum<DatastoreKind>(from.kind));
  to->set_directory(from.directory);
  to->set_remote(from.remote);
  to->set_read_only(from.read_only);
  write_texts(from.users, to->mutable_users());
  write_texts(from.projects, to->mutable_projects());
}

Status from_wire(const DatastoreView& from, lockstep::DatastoreView* to) {
  TRY(read_text(from.name(), "datastore.name", &to->name));
  TRY(read_enum(from.kind(), lockstep::DatastoreKind::rclone, "datastore.kind", &to->kind));
  TRY(read_text(from.directory(), "datastore.directory", &to->directory));
  TRY(read_text(from.remote(), "datastore.remote", &to->remote));
  to->read_only = from.read_only();
  TRY(check_count(from.users_size(), kMaxDatastoreUsers, "datastore.users"));
  TRY(check_count(from.projects_size(), kMaxDatastoreUsers, "datastore.projects"));
  for (const std::string& user : from.users())
    TRY(read_text(user, "datastore.users", &to->users.emplace_back()));
  for (const std::string& project : from.projects())
    TRY(read_text(project, "datastore.projects", &to->projects.emplace_back()));
  return {};
}

void to_wire(const lockstep::ListDatastores& from, ListDatastores* to) { to->set_name(from.name); }
Status from_wire(const ListDatastores& from, lockstep::ListDatastores* to) {
  return read_text(from.name(), "name", &to->name);
}

void to_wire(const lockstep::DatastoresReply& from, DatastoresReply* to) {
  write_list(from.datastores, to->mutable_datastores());
}
Status from_wire(const DatastoresReply& from, lockstep::DatastoresReply* to) {
  return read_list(from.datastores(), kMaxDatastores, "datastores", &to->datastores);
}

void to_wire(const lockstep::WaitsForData& from, WaitsForData* to) { to->set_what(from.what); }
Status from_wire(const WaitsForData& from, lockstep::WaitsForData* to) {
  return read_text(from.what(), "what", &to->what);
}

}  // namespace lockstep::pb
