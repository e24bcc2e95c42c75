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

// Checks that a function exists and takes so many arguments. Errors name the function but not its
// place.
Status check_call(const std::string& name, std::size_t arguments);
Result<Json> call(const std::string& name, std::vector<Argument> arguments);

}  // namespace lockstep::cli::jmespath
