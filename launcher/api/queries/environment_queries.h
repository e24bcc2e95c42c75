#pragma once
// Questions about environments that have a name, answered from the core's state. It reads no file:
// launcher/api/mapped_environments.h adds the entries of the operator's map.

#include <string>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The parts of "NAME", "NAME@latest" or "NAME:VERSION", the forms that ShowEnvironment takes.
struct EnvironmentName {
  std::string name;
  std::string version;  // "": the newest
};
EnvironmentName parse_environment_name(const std::string& reference);

// The view of an environment, with the locks of its definition and its newest job, as far as the
// viewer may see their accounts.
EnvironmentView view_of(const State& state, const Viewer& viewer,
                        const EnvironmentVersion& version);

// Returns an EnvironmentReply, or Refused not_found.
ClientReply show_environment(const State& state, const std::string& reference,
                             const Viewer& viewer);

// EnvironmentsReply: without a name the newest version of each environment, sorted by name; with a
// name all of its versions, newest first (Refused not_found if there is none); `archived` says
// which versions are left out. Those beyond kMaxPageBytes come without their content.
ClientReply list_environments(const State& state, const std::string& name, const Viewer& viewer,
                              ArchivedToo archived = ArchivedToo::no);

}  // namespace lockstep::launcher
