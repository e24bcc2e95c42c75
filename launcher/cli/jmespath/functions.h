#pragma once
// The functions of JMESPath.

#include <functional>

#include "launcher/cli/jmespath/node.h"

namespace lockstep::cli::jmespath {

// A value, or an expression (&name) that a function applies to values.
struct Argument {
  Json value = {};
  std::function<Result<Json>(const Json&)> expression = {};
};

// Errors name the function but not its place.
Result<Json> call(const std::string& name, std::vector<Argument> arguments);

}  // namespace lockstep::cli::jmespath
