#pragma once
// JMESPath (https://jmespath.org/specification.html): an expression that selects from JSON and
// reshapes it, as `az --query` takes it. Complete: all of the grammar and its 26 functions. As az's
// implementation, it also orders strings by <, and takes `word` for the literal `"word"`. Pure.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::cli::jmespath {

using Json = nlohmann::ordered_json;
struct Node;

class Expression {
 public:
  // Parses an expression. Returns invalid_argument: "column 5: …", counted in characters from 1.
  static Result<Expression> parse(std::string_view text);

  // The value that the expression selects; null: nothing. Returns invalid_argument if a function
  // was given a value that it does not take; "column 5: …" is the function's place.
  Result<Json> search(const Json& document) const;

 private:
  Expression(std::string text, std::shared_ptr<const Node> root);

  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace lockstep::cli::jmespath
