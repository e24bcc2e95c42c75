#pragma once
// Registered components on this machine: their files go to the launcher when they are registered,
// and come back when a job file names them.

#include "launcher/cli/base/verb_context.h"
#include "launcher/files/pipeline/component_file.h"

namespace lockstep::cli {

// Uploads the files and sets their digest in file.asset.
Status send_component(Context& context, Connection& connection, spec::ComponentFile& file);

// Makes a function that fetches the files of a registered component, unless they are here
// unchanged. It returns permission_denied if the component names a file that is not among them. It
// connects on its first call. `context` outlives the result.
spec::FindComponent component_finder(Context& context);

}  // namespace lockstep::cli
