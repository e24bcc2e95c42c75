#pragma once
// Reads a file by which the operator decides for all users of a launcher, as datastores.yml and
// fabric.yml: nobody but root and the launcher's user may be able to change it.

#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::spec {

// nullopt: the file does not exist. permission_denied: other users can change the file; the error
// names its owner, its mode and what to do. Else as io::read_regular_file.
Result<std::optional<std::string>> read_operators_file(const std::string& path, Bytes at_most);

}  // namespace lockstep::spec
