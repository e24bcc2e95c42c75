#pragma once
// The interpreter that the first line of a batch script names. Pure.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli {

// The words of the script's first line, without `env` and folders: {"bash", "-l"}. `file` is its
// name for errors.
Result<std::vector<std::string>> interpreter_of(const std::string& file, const std::string& text);

}  // namespace lockstep::cli
