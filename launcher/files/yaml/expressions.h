#pragma once
// Handles ${{…}} in a job file's texts. Literal inputs are substituted. Data inputs and outputs are
// checked and left for the node, because only it knows their paths. Every other expression of Azure
// ML is refused by name.

#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/job/spec.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// `node` is a scalar; returns its text with each ${{inputs.NAME}} replaced by the input's text,
// exactly (no quoting is added), each ${{inputs.NAME.path}} and ${{inputs.NAME}} of data in the
// form of input_expression(), and each ${{outputs.NAME}} in the form of output_expression(). Errors
// point at the expression if it can be found in the file. ${{secrets.NAME}} is refused, or if
// allowed, checked and left for the node. $[[…]] is replaced by its content, or by nothing if it
// has an optional input without a value.
enum class Secrets { refused, allowed };
struct ExpressionNames {
  const JobSpec& spec;          // only inputs and outputs are read
  std::set<std::string> unset;  // optional inputs without a value
};
Result<std::string> substitute(const Source& source, const YamlNode& node,
                               const ExpressionNames& names, Secrets secrets = Secrets::refused);

// The place of `expression` in the text of a scalar: a block or folded text has moved it, so it is
// searched from the value's beginning on.
Place place_of_expression(const Source& source, const YamlNode& node, std::string_view expression);

}  // namespace lockstep::spec
