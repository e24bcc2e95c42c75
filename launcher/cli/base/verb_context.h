#pragma once
// The context of every verb: the home, the terminal, and the way to a launcher. Also turns an error
// into an exit code.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/jmespath/expression.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/link/endpoint.h"
#include "launcher/cli/local/home.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

// Our own exit codes; a job's own codes pass through unchanged.
inline constexpr int kExitFailure = 1;  // a request failed (the job does not exist, it was refused,
                                        // …)
inline constexpr int kExitUsage = 2;    // the command line or the job file is wrong
inline constexpr int kExitLockstepFailed =
    125;                                 // the same for the verbs that end with a job's code
inline constexpr int kExitHungUp = 129;  // the terminal was closed, as 128+SIGHUP
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitOutputClosed = 141;  // nobody reads our output any more, as 128+SIGPIPE

struct Context {
  LocalHome home;
  std::string launcher;  // LOCKSTEP_LAUNCHER: an endpoint file; "" = the local one
  Terminal& terminal;

  enum class Need {
    launcher,  // started when there is none
    nodes,     // and local agents that died are started again
  };
  // The connection is the context's, for as long as it lives.
  Result<Connection*> connect(Need need) const;
  // The launcher's present address; nullopt while it is down. Starts nothing.
  std::optional<Endpoint> find_endpoint() const;

  mutable std::vector<std::unique_ptr<Connection>> connections = {};
  std::optional<jmespath::Expression> query = {};  // --query: selects the printed part of an answer
};

// Says the error on stderr and returns `code`.
int fail(Terminal& terminal, const Error& error, int code = kExitFailure);
// Prints an error with a line for each fault (files/yaml/faults.h), each on a line of its own, and
// returns `code`.
int fail_with_all(Terminal& terminal, const Error& error, int code = kExitUsage);

// Lets SIGINT, SIGTERM and SIGHUP wait (for a Follower) or end us, in this thread and those it
// starts.
void hold_interrupts(bool hold);

// Asks for a change that is answered by Done, and says what was done. The exit code.
int ask_to_change(Context& context, const ClientRequest& request);

// The part of an answer that --query selects, or all of it.
Result<Json> what_is_asked(const Context& context, const Json& json);

// Writes `table`, or the part of the JSON that --query selects (else all of it) in the requested
// format. kExitFailure: the query does not fit the answer.
int print(Context& context, Format format, const Json& json, const std::string& table);

}  // namespace lockstep::cli
