#include "common/grammar/late_expression.h"

namespace lockstep {

std::string expression_of(std::string_view group, std::string_view name) {
  return "${{" + std::string(group) + "." + std::string(name) + "}}";
}

std::string put_in_expressions(std::string text, std::string_view group,
                               const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    const std::string expression = expression_of(group, name);
    for (std::size_t at = text.find(expression); at != std::string::npos;
         at = text.find(expression, at + value.size()))
      text.replace(at, expression.size(), value);
  }
  return text;
}

}  // namespace lockstep
