#pragma once
// Reads the keys of a pip environment: `requirements` (a list, or a file's name),
// `options` and `constraints` (lists, as `environment show` prints them) and `python`. Errors begin
// with FILE:LINE:COLUMN. It resolves nothing.

#include <optional>
#include <string>

#include "launcher/files/environment/conda_lock.h"
#include "launcher/files/environment/requirements.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads a venv. `mapping` has `requirements`; `section` as in environment_reader.h.
Result<VenvEnvironment> read_venv(const Source& source, const YamlNode& mapping,
                                  const std::string& section, const ReadText& read_text,
                                  Notes& notes);

// The lines of `constraints`; none if the key is absent.
Result<std::vector<std::string>> read_constraints(const Source& source, const YamlNode& mapping,
                                                  const std::string& section);

// Why this cannot be an interpreter's name, as with the version "3.11"; nullopt: it can.
std::optional<std::string> fault_of_interpreter(const std::string& text);

// The warning for a pip environment without packages.
std::string warning_of_empty(const std::string& where);

}  // namespace lockstep::spec
