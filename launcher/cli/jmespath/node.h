#pragma once
// The tree of a parsed expression. Each node says where it begins in the text, for errors.

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli::jmespath {

using Json = nlohmann::ordered_json;

enum class NodeKind {
  current,            // @, and the left side of an expression that begins with a bracket
  literal,            // value
  field,              // name
  index,              // numbers[0], of the list that it is given
  slice,              // numbers: start, stop, step
  chain,              // the second child of what the first one gives: a.b, a[0], a | b
  flatten,            // the list of the child, without one level of lists
  projection,         // the second child of each element of the first one's list
  value_projection,   // of each value of the first one's object
  filter_projection,  // of each element for which the third child holds
  multi_list,         // [a, b]
  multi_object,       // {name: a}; values' names are in `names`
  either,             // a || b
  both,               // a && b
  negation,           // !a
  comparison,         // name is the operator
  function,           // name(children)
  reference,          // &a, an argument of a function
};

struct Node {
  NodeKind kind = NodeKind::current;
  std::size_t at = 0;  // offset in the text
  std::string name = {};
  Json value = {};
  std::array<std::optional<std::int64_t>, 3> numbers = {};
  std::vector<std::string> names = {};
  std::vector<Node> children = {};
};

// An error about the place `at` of `text`: "column 5: why".
Error fault_at(std::string_view text, std::size_t at, const std::string& why);

Result<Node> parse(std::string_view text);
Result<Json> evaluate(std::string_view text, const Node& node, const Json& value);

}  // namespace lockstep::cli::jmespath
