#pragma once
// Reads a file with which the operator decides for all users of a launcher, such as datastores.yml
// and fabric.yml. Only root and the launcher's user may be able to change it.

#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::spec {

// Reads an operator's file. nullopt: it does not exist. Returns permission_denied, with its owner,
// its mode and what to do, if other users can change it. Other errors are those of
// io::read_regular_file.
Result<std::optional<std::string>> read_operators_file(const std::string& path, Bytes at_most);

}  // namespace lockstep::spec
