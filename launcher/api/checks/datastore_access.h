#pragma once
// Decides who may use which of the operator's datastores, and resolves a job's input or output in
// one. A user who may not use a datastore is told that it does not exist.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/data_reference.h"
#include "common/domain/messages/client_protocol.h"
#include "launcher/api/ports/datastores.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/base/action.h"
#include "launcher/files/data/datastores_file.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The job as it will be owned: its submitter and its project.
struct DatastoreUser {
  std::string user;
  std::string project;
};

// The reference in this path, or nullopt.
std::optional<DatastoreReference> datastore_reference(const std::string& path);

// Finds a datastore. Returns not_found if this user has none of this name, with the nearest name or
// else the operator's file and the lines that would add it. "default_datastore" is the default one,
// unless one has this name.
Result<spec::Datastore> find_datastore(const Datastores& all, const DatastoreUser& user,
                                       const std::string& name);

// Makes the input one of the datastore's directory. Not for a remote.
Status take_place(const spec::Datastore& store, const DatastoreReference& reference,
                  DataInput& input);
// Whether an input of this mode can be fetched from the remote.
Status check_remote(const spec::Datastore& store, const DataInput& input);
RemoteFiles files_of(const spec::Datastore& store, const DatastoreReference& reference);

// Makes the output, which has a path, one that is written to the datastore as well: by the nodes to
// a directory, by the launcher to a remote.
Status place_output(const Datastores& all, const DatastoreUser& user, OutputSpec& output);
// The place to which the launcher writes an output now, if its job may still do that.
Result<RemoteFiles> remote_of(const Datastores& all, const WriteOutput& write);

// Returns `all`, or its error as the caller may see it: the file's lines are for admins.
Result<Datastores> shown_to(const State& state, const Caller& caller, Result<Datastores> all);

// The answer to ListDatastores: what the caller may use, as the caller may see it.
ClientReply list_datastores(const State& state, const Caller& caller, Result<Datastores> all,
                            const ListDatastores& question);

}  // namespace lockstep::launcher
