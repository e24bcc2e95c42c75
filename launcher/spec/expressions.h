#pragma once
// ${{…}} in a job file's texts. Only literal inputs can be put in so far; every other expression of
// Azure ML is refused by name.

#include <map>
#include <string>

#include "common/base/result.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `node` is a scalar; returns its text with each ${{inputs.NAME}} replaced by the input's text,
// exactly (no quoting is added). Errors point at the expression where it can be found in the file.
Result<std::string> substitute(const Source& source, const YamlNode& node,
                               const std::map<std::string, std::string>& inputs);

}  // namespace lockstep::spec
