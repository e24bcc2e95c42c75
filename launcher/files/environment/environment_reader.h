#pragma once
// Reads an environment from a job file's `environment:`, from an environment file, or from an entry
// of the operator's map. It reads the files that a definition names, so that the result has their
// content and no paths, except the folder of an image that is built. The name of an environment
// stays a name, for the launcher to resolve. Errors begin with FILE:LINE:COLUMN, or "--set k.l=v";
// those in a requirements file with its own FILE:LINE.

#include <optional>
#include <string>
#include <variant>

#include "common/domain/environment/definition.h"
#include "launcher/files/environment/conda_file.h"
#include "launcher/files/environment/docker_reader.h"
#include "launcher/files/environment/requirements.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

struct EnvironmentReference {
  std::string text;   // see environment_reference.h
  std::string where;  // the reference's place, for the launcher's errors: "job.yml:3:14"
  friend bool operator==(const EnvironmentReference&, const EnvironmentReference&) = default;
};

struct ReadEnvironment {
  RegisteredEnvironment environment;
  std::optional<BuildFolder> build;  // the image's build folder; the definition lacks its digest
  friend bool operator==(const ReadEnvironment&, const ReadEnvironment&) = default;
};

using EnvironmentChoice = std::variant<ReadEnvironment, EnvironmentReference>;

// The value of a job file's `environment:`. Paths are relative to the source.
Result<EnvironmentChoice> read_environment(const Source& source, const YamlNode& node,
                                           const ReadText& read_text, Notes& notes);

// Reads a mapping that contains only a definition. `section`: prefix of its keys in errors,
// "environment." or "".
Result<ReadEnvironment> read_definition(const Source& source, const YamlNode& mapping,
                                        const std::string& section, const ReadText& read_text,
                                        Notes& notes);

// Reads an environment file or a conda file.
Result<ReadEnvironment> load_environment(const std::string& path, const ReadText& read_text,
                                         Notes& notes);

// Reads a conda file into an environment that consists only of its packages: no image, no
// variables.
Result<ReadEnvironment> load_conda_environment(const std::string& path, const ReadText& read_text,
                                               Notes& notes);

// The file system's ReadText, within kMaxCondaBytes. UTF-16 is read as PowerShell writes it.
Result<std::string> read_text_file(const std::string& path);

// Reads regular files only, for callers that must not block on a pipe.
Result<std::string> read_regular_text_file(const std::string& path);

// Calls read_requirements with each file's text checked to be UTF-8 (`checked` of requirements.h).
Status load_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment);

}  // namespace lockstep::spec
