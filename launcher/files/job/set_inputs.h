#pragma once
// Finds a --set or --input that adds an input which nothing reads. It is probably mistyped, since
// it would have no effect. An input that the file itself has may be unused.

#include <string>

#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Checks inputs that a --set gives. `owner`: the mapping of a job, a pipeline or a step that has
// the `inputs`; `shown`: its name for people. `around` and `key`: for a step, the mapping of its
// pipeline and the step's name there; otherwise nullptr and "". Adds a fault for each such input.
void check_set_inputs(const Source& source, const YamlNode& owner, std::string_view shown,
                      const YamlNode* around, std::string_view key, Faults& faults);

}  // namespace lockstep::spec
