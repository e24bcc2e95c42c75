#pragma once
// Lock files of conda: conda-lock.yml (version 1), and the text that begins with @EXPLICIT and
// names one package's address in each line. What comes out are addresses with hashes for each Linux
// platform; nothing is left to solve. Formats: conda-lock's documentation, "Unified lockfile", and
// conda's, "Building identical environments".

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/environment.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// What people should see, each with its FILE:LINE:COLUMN; nothing is wrong.
using Notes = std::vector<std::string>;

// Named bounds: conda-lock writes each package of each platform with all that it needs.
inline constexpr std::size_t kMaxCondaBytes = 8 << 20;
inline constexpr std::size_t kMaxCondaNodes = 200'000;

bool is_explicit_lock(std::string_view text);
bool is_conda_lock(const YamlNode& root);
// pixi's lock is no lock of conda-lock, and no conda file.
Status refuse_pixi_lock(const Source& source, const YamlNode& root);

Result<CondaEnvironment> read_explicit_lock(const Source& source);
// `section`: what keys stand under in errors, "environment.conda_file." or "".
Result<CondaEnvironment> read_conda_lock(const Source& source, const YamlNode& root,
                                         const std::string& section, Notes& notes);

}  // namespace lockstep::spec
