// Evaluates JMESPath expressions for tests/e2e/test_query.py: of each line of standard input,
// {"expression": …, "document": …}, it prints {"result": …} or {"error": …}.

#include <iostream>
#include <nlohmann/json.hpp>

#include "launcher/cli/jmespath/expression.h"

int main() {
  using lockstep::cli::jmespath::Expression;
  using lockstep::cli::jmespath::Json;
  for (std::string line; std::getline(std::cin, line);) {
    const Json asked = Json::parse(line);
    const auto expression = Expression::parse(asked["expression"].get<std::string>());
    Json answer;
    if (!expression) {
      answer["error"] = expression.error().message;
    } else if (auto found = expression->search(asked["document"])) {
      answer["result"] = *std::move(found);
    } else {
      answer["error"] = found.error().message;
    }
    std::cout << answer.dump() << '\n';
  }
}
