#pragma once
// Resolves the environment of a job: what the command line names, and the launcher's answer for
// registered names.

#include <optional>
#include <string>

#include "common/domain/job_spec.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/terminal.h"
#include "launcher/spec/environment_reader.h"

namespace lockstep::cli {

// A word of the command line: an environment file's path, "file:PATH", or a reference. `option`
// stands before what is wrong with it, and with the launcher's answer.
Result<spec::EnvironmentChoice> environment_named(const std::string& word,
                                                  const std::string& option, spec::Notes& notes);

// Prints each note on standard error: keys of the file that have no effect.
void show(Terminal& terminal, const spec::Notes& notes);

// The same for what a job says of a container and has none, where only the launcher knew.
void show_ignored(Terminal& terminal, const JobSpec& spec);

struct ResolvedEnvironment {
  EnvironmentSpec spec;
  std::optional<spec::BuildFolder> build;  // to be captured; spec lacks its digest
};

// What a job gets. Content is taken as it is; the launcher is asked for the rest.
Result<ResolvedEnvironment> resolve(Connection& connection, const spec::EnvironmentChoice& choice);

}  // namespace lockstep::cli
