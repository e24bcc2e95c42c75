#pragma once
// Questions about environments that have a name, answered from the core's state. No file: what the
// operator's map has is beside this, in launcher/mapped_environments.h.

#include <string>

#include "common/domain/client_messages.h"
#include "launcher/api/viewer.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// "NAME", "NAME@latest" and "NAME:VERSION", as ShowEnvironment has them, parted.
struct EnvironmentName {
  std::string name;
  std::string version;  // "": the newest
};
EnvironmentName parse_environment_name(const std::string& reference);

// An environment and what is known of its definition: its locks, and the newest job that has it.
EnvironmentView view_of(const State& state, const EnvironmentVersion& version);

// EnvironmentReply, or Refused not_found.
ClientReply show_environment(const State& state, const std::string& reference);

// EnvironmentsReply: the newest of each name by name, or with a name all of its versions, the
// newest first (Refused not_found: there is none). Those beyond kMaxPageBytes come without their
// content.
ClientReply list_environments(const State& state, const std::string& name, const Viewer& viewer);

}  // namespace lockstep::launcher
