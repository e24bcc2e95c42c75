#pragma once
// parse_yaml() of yaml/tree.h for readers that collect faults.

#include "common/base/result.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// A key that is there already does not end the reading: it is added to `faults`, and the tree has
// its first value. An error, which names the first fault only, is of a text that cannot be read.
Result<YamlNode> parse_yaml(const Source& source, Faults& faults);

}  // namespace lockstep::spec
