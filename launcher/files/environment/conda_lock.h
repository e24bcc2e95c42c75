#pragma once
// Reads lock files of conda: conda-lock.yml (version 1), and the text that begins with @EXPLICIT
// and has one package's address in each line. The result has addresses with hashes for each Linux
// platform, so nothing is left to solve. Formats: conda-lock's documentation, "Unified lockfile",
// and conda's, "Building identical environments".

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/environment/definition.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Hints for people, each with its FILE:LINE:COLUMN; none is an error.
using Notes = std::vector<std::string>;

// Larger bounds than a job file's: conda-lock writes every package of every platform, with its
// dependencies.
inline constexpr std::size_t kMaxCondaBytes = 8 << 20;
inline constexpr std::size_t kMaxCondaNodes = 200'000;

bool is_explicit_lock(std::string_view text);
bool is_conda_lock(const YamlNode& root);
// Returns an error for a lock file of pixi, which is neither a conda-lock file nor a conda file.
Status refuse_pixi_lock(const Source& source, const YamlNode& root);

Result<CondaEnvironment> read_explicit_lock(const Source& source);
// Reads a lock file. `section`: prefix of the keys in errors, "environment.conda_file." or "".
Result<CondaEnvironment> read_conda_lock(const Source& source, const YamlNode& root,
                                         const std::string& section, Notes& notes);

}  // namespace lockstep::spec
