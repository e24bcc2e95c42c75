#pragma once
// Expressions that stay in a job's command and variables until its node replaces them:
// ${{inputs.NAME}}, ${{outputs.NAME}}.

#include <map>
#include <string>
#include <string_view>

namespace lockstep {

// "${{GROUP.NAME}}".
std::string expression_of(std::string_view group, std::string_view name);
// Returns `text` with the expression of each of `values` replaced. An inserted value is not
// searched again for the same name.
std::string put_in_expressions(std::string text, std::string_view group,
                               const std::map<std::string, std::string>& values);

}  // namespace lockstep
