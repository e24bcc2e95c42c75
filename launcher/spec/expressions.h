#pragma once
// Handles ${{…}} in a job file's texts. Literal inputs are substituted. Data inputs and outputs are
// checked and left for the node, because only it knows their paths. Every other expression of Azure
// ML is refused by name.

#include <string>

#include "common/base/result.h"
#include "common/domain/job_spec.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `node` is a scalar; returns its text with each ${{inputs.NAME}} replaced by the input's text,
// exactly (no quoting is added), each ${{inputs.NAME.path}} and ${{inputs.NAME}} of data in the
// form of input_expression(), and each ${{outputs.NAME}} in that of output_expression(). Errors
// point at the expression if it can be found in the file. Of `spec`, only inputs and outputs are
// read. ${{secrets.NAME}} is refused, or if allowed, checked and left for the node.
enum class Secrets { refused, allowed };
Result<std::string> substitute(const Source& source, const YamlNode& node, const JobSpec& spec,
                               Secrets secrets = Secrets::refused);

}  // namespace lockstep::spec
