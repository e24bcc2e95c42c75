#pragma once
// ${{…}} in a job file's texts. Literal inputs are put in; outputs are checked and left for the
// node, which alone knows their paths; every other expression of Azure ML is refused by name.

#include <string>

#include "common/base/result.h"
#include "common/domain/job_spec.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `node` is a scalar; returns its text with each ${{inputs.NAME}} replaced by the input's text,
// exactly (no quoting is added), and each ${{outputs.NAME}} as output_expression() has it. Errors
// point at the expression where it can be found in the file. Of `spec`, inputs and outputs are
// read. ${{secrets.NAME}} is checked and left for the node, where it is allowed at all.
enum class Secrets { refused, allowed };
Result<std::string> substitute(const Source& source, const YamlNode& node, const JobSpec& spec,
                               Secrets secrets = Secrets::refused);

}  // namespace lockstep::spec
