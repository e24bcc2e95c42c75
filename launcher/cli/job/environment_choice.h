#pragma once
// Resolves a job's environment: reads the one that the command line names, and asks the launcher
// for the definition of a named environment.

#include <optional>
#include <string>

#include "common/domain/job/spec.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/terminal/terminal.h"
#include "launcher/files/environment/environment_reader.h"

namespace lockstep::cli {

// The environment of a word: an environment file's path, "file:PATH", "-" for standard input, or a
// reference. `option` is put before errors about the word, also the launcher's.
Result<spec::EnvironmentChoice> environment_named(const std::string& word,
                                                  const std::string& option, spec::Notes& notes);

// Prints one line on stderr for each note, which names a setting of a file that has no effect.
void show(Terminal& terminal, const spec::Notes& notes);

// Prints a note for each container setting that has no effect, because the job's environment has no
// container. For jobs whose environment only the launcher knew.
void show_ignored(Terminal& terminal, const JobSpec& spec);

struct ResolvedEnvironment {
  EnvironmentSpec spec;
  std::optional<spec::BuildFolder> build;  // still to capture; `spec` does not have its digest yet
};

// The environment that a job gets. A definition is taken as it is; for a reference the launcher is
// asked.
Result<ResolvedEnvironment> resolve(Connection& connection, const spec::EnvironmentChoice& choice);

}  // namespace lockstep::cli
