#pragma once
// The text that a literal input has for its job: what azure-ai-ml sends for it. That reads YAML 1.1
// with PyYAML and writes the value with Python's str(), so that a plain `true` is "True", `0.010`
// is "0.01" and `010` is "8", while quoted texts and values of --set stay as they are
// (docs/decisions/071-literals.md).

#include <string>
#include <string_view>

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// The text of a value that is given to an input. A value that Azure refuses (.inf, .nan, dates)
// stays as written.
std::string literal_text(const YamlNode& scalar);

// The text that Python's str() gives for this number as a float; `text` if it is not a number.
std::string python_float(std::string_view text);

}  // namespace lockstep::spec
