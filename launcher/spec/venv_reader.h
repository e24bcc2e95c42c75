#pragma once
// The keys of an environment of pip's packages: `requirements` (a list, or a file's name),
// `options` and `constraints` (lists, as `environment show` prints them) and `python`. Errors begin
// with FILE:LINE:COLUMN. It resolves nothing.

#include <optional>
#include <string>

#include "launcher/spec/conda_lock.h"
#include "launcher/spec/requirements.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `mapping` has `requirements`; `section` as in environment_reader.h.
Result<VenvEnvironment> read_venv(const Source& source, const YamlNode& mapping,
                                  const std::string& section, const ReadText& read_text,
                                  Notes& notes);

// The lines of `constraints`; none where it is absent.
Result<std::vector<std::string>> read_constraints(const Source& source, const YamlNode& mapping,
                                                  const std::string& section);

// "3.11" where an interpreter is to be named: what is wrong with it; nullopt: nothing.
std::optional<std::string> fault_of_interpreter(const std::string& text);

// Of an environment of pip's packages that has none.
std::string warning_of_empty(const std::string& where);

}  // namespace lockstep::spec
