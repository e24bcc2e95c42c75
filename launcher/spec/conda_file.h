#pragma once
// A conda file as content: environment.yml in conda's whole grammar, or a lock file (conda_lock.h).
// Files that its pip section names are read. It solves nothing: channels and match specs stay what
// they are, but for `defaults`, which becomes the addresses that conda has for it.

#include <string>

#include "launcher/spec/conda_lock.h"
#include "launcher/spec/requirements.h"

namespace lockstep::spec {

struct CondaFile {
  std::string name;  // "" = it has none
  CondaEnvironment environment;
};

// Whether a file is one, rather than an environment file.
bool is_conda(const YamlNode& root);

// `section`: what its keys stand under in errors, "environment.conda_file." or "".
Result<CondaFile> read_conda(const Source& source, const YamlNode& mapping,
                             const std::string& section, const ReadText& read_text, Notes& notes);

// A file of a conda environment's own, of any of the forms.
Result<CondaFile> load_conda(const std::string& path, const ReadText& read_text, Notes& notes);

}  // namespace lockstep::spec
