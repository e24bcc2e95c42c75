#pragma once
// Runs one attachment to its end, alone on its connection: it listens, handles signals, and follows
// the launcher to another endpoint.

#include <functional>
#include <optional>

#include "launcher/cli/attach/session.h"

namespace lockstep::cli {

// Runs the session to its end. Without a terminal, SIGINT, SIGTERM and SIGQUIT go to the program,
// and the second one leaves; with one, they leave. SIGHUP leaves. `find_endpoint`: the launcher's
// present address; nullopt: there is none.
Result<AttachOutcome> attach(Connection& connection, Terminal& terminal,
                             const std::function<std::optional<Endpoint>()>& find_endpoint,
                             AttachOptions options);

}  // namespace lockstep::cli
