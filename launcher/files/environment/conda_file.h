#pragma once
// Reads a conda file: environment.yml in conda's whole grammar, or a lock file (conda_lock.h).
// Files that its pip section names are read too. It solves nothing: channels and match specs stay
// as written, except the channel `defaults`, which is replaced by conda's addresses for it.

#include <string>

#include "launcher/files/environment/conda_lock.h"
#include "launcher/files/environment/requirements.h"

namespace lockstep::spec {

struct CondaFile {
  std::string name;  // "" = the file has none
  CondaEnvironment environment;
};

// Whether a file is a conda file rather than an environment file.
bool is_conda(const YamlNode& root);

// Reads a conda file. `section`: prefix of the keys in errors, "environment.conda_file." or "".
Result<CondaFile> read_conda(const Source& source, const YamlNode& mapping,
                             const std::string& section, const ReadText& read_text, Notes& notes);

// Reads a conda file in any of its forms.
Result<CondaFile> load_conda(const std::string& path, const ReadText& read_text, Notes& notes);

}  // namespace lockstep::spec
