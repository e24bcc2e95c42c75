#pragma once
// Parses the text of a file into the tree of yaml/tree.h, and applies --set to it.

#include <string>

#include "common/base/result.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Parses one document whose root is a mapping; anything else is an error with its place.
Result<YamlNode> parse_yaml(const Source& source);

// Parses for readers that collect faults. A repeated key does not end the reading: it is added to
// `faults`, and the tree has its first value. An error, which names the first fault only, means
// that the text cannot be read.
Result<YamlNode> parse_yaml(const Source& source, Faults& faults);

// Applies "k.l=v": creates missing mappings on the path and replaces the old value. A value that
// starts with { or [ is YAML; any other is taken literally. `shown`: what errors show instead of
// "--set k.l=v", such as "--input l=v".
Status apply_override(YamlNode& root, const std::string& assignment, const std::string& shown = {});

}  // namespace lockstep::spec
