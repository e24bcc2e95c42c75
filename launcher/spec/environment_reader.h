#pragma once
// What people write about an environment: a job file's `environment:`, a file that has one alone,
// an entry of the operator's map. Files that a definition names are read here, so that what comes
// out is content and no path, but for the folder of an image; a name stays a name, for the launcher
// to resolve. Errors begin with FILE:LINE:COLUMN, or "--set k.l=v"; those of a requirements file
// with its own FILE:LINE.

#include <optional>
#include <string>
#include <variant>

#include "common/domain/environment.h"
#include "launcher/spec/conda_file.h"
#include "launcher/spec/docker_reader.h"
#include "launcher/spec/requirements.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct EnvironmentReference {
  std::string text;   // see environment_reference.h
  std::string where;  // it was written, for the launcher's errors: "job.yml:3:14"
  friend bool operator==(const EnvironmentReference&, const EnvironmentReference&) = default;
};

struct ReadEnvironment {
  RegisteredEnvironment environment;
  std::optional<BuildFolder> build;  // its image is built from; the definition lacks its digest
  friend bool operator==(const ReadEnvironment&, const ReadEnvironment&) = default;
};

using EnvironmentChoice = std::variant<ReadEnvironment, EnvironmentReference>;

// The value of a job file's `environment:`. Paths are relative to the source.
Result<EnvironmentChoice> read_environment(const Source& source, const YamlNode& node,
                                           const ReadText& read_text, Notes& notes);

// A mapping that is a definition and nothing else. `section`: what its keys stand under in errors,
// "environment." or "".
Result<ReadEnvironment> read_definition(const Source& source, const YamlNode& mapping,
                                        const std::string& section, const ReadText& read_text,
                                        Notes& notes);

// A file of an environment's own, or a conda file.
Result<ReadEnvironment> load_environment(const std::string& path, const ReadText& read_text,
                                         Notes& notes);

// A conda file as all of an environment.
Result<ReadEnvironment> load_conda_environment(const std::string& path, const ReadText& read_text,
                                               Notes& notes);

// The file system's ReadText, within kMaxCondaBytes.
Result<std::string> read_text_file(const std::string& path);

// The same for who must not wait for a pipe's other end: of regular files alone.
Result<std::string> read_regular_text_file(const std::string& path);

// read_requirements, with the text of each file checked.
Status load_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment);

}  // namespace lockstep::spec
