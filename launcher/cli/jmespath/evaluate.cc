#include <fmt/format.h>

#include <algorithm>

#include "launcher/cli/jmespath/expression.h"
#include "launcher/cli/jmespath/functions.h"
#include "launcher/cli/jmespath/node.h"
#include "launcher/cli/jmespath/value.h"

namespace lockstep::cli::jmespath {
namespace {

class Evaluator {
 public:
  explicit Evaluator(std::string_view text) : text_(text) {}

  Result<Json> of(const Node& node, const Json& value) const {
    switch (node.kind) {
      case NodeKind::current: return value;
      case NodeKind::literal: return node.value;
      case NodeKind::field: return field(node, value);
      case NodeKind::index: return index(node, value);
      case NodeKind::slice: return slice(node, value);
      case NodeKind::chain: return chain(node, value);
      case NodeKind::flatten: return flatten(node, value);
      case NodeKind::projection: return projection(node, value, &Json::is_array);
      case NodeKind::value_projection: return projection(node, value, &Json::is_object);
      case NodeKind::filter_projection: return projection(node, value, &Json::is_array);
      case NodeKind::multi_list:
      case NodeKind::multi_object: return multi(node, value);
      case NodeKind::either: return logic(node, value, true);
      case NodeKind::both: return logic(node, value, false);
      case NodeKind::negation: {
        TRY_ASSIGN(const Json inside, of(node.children[0], value));
        return Json(!is_true(inside));
      }
      case NodeKind::comparison: return comparison(node, value);
      case NodeKind::function: return function(node, value);
      case NodeKind::reference:
        return fault_at(text_, node.at, "&EXPRESSION is an argument of a function only");
    }
    return Json();
  }

 private:
  static Json field(const Node& node, const Json& value) {
    if (!value.is_object()) return {};
    const auto found = value.find(node.name);
    return found == value.end() ? Json() : *found;
  }

  static Json index(const Node& node, const Json& value) {
    if (!value.is_array()) return {};
    const auto size = static_cast<std::int64_t>(value.size());
    std::int64_t at = node.numbers[0].value_or(0);
    if (at < 0) at += size;
    return at < 0 || at >= size ? Json() : value[static_cast<std::size_t>(at)];
  }

  // Slices like Python's [start:stop:step].
  static Json slice(const Node& node, const Json& value) {
    if (!value.is_array()) return {};
    const auto size = static_cast<std::int64_t>(value.size());
    const std::int64_t step = node.numbers[2].value_or(1);
    const std::int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    const auto bound = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
      if (!given) return otherwise;
      return std::clamp(*given < 0 ? *given + size : *given, least, most);
    };
    const std::int64_t start = bound(node.numbers[0], step < 0 ? most : least);
    const std::int64_t stop = bound(node.numbers[1], step < 0 ? least : most);
    Json list = Json::array();
    for (std::int64_t at = start; step < 0 ? at > stop : at < stop;) {
      list.push_back(value[static_cast<std::size_t>(at)]);
      if (__builtin_add_overflow(at, step, &at)) break;
    }
    return list;
  }

  Result<Json> chain(const Node& node, const Json& value) const {
    if (node.children[0].kind == NodeKind::current) return of(node.children[1], value);
    TRY_ASSIGN(const Json left, of(node.children[0], value));
    return of(node.children[1], left);
  }

  Result<Json> flatten(const Node& node, const Json& value) const {
    TRY_ASSIGN(const Json list, of(node.children[0], value));
    if (!list.is_array()) return Json();
    Json flat = Json::array();
    for (const Json& element : list) {
      if (!element.is_array())
        flat.push_back(element);
      else
        flat.insert(flat.end(), element.begin(), element.end());
    }
    return flat;
  }

  Result<Json> projection(const Node& node, const Json& value,
                          bool (Json::*is_right)() const noexcept) const {
    TRY_ASSIGN(const Json base, of(node.children[0], value));
    if (!(base.*is_right)()) return Json();
    Json list = Json::array();
    for (const Json& element : base) {
      if (node.children.size() > 2) {
        TRY_ASSIGN(const Json holds, of(node.children[2], element));
        if (!is_true(holds)) continue;
      }
      TRY_ASSIGN(Json projected, of(node.children[1], element));
      if (!projected.is_null()) list.push_back(std::move(projected));
    }
    return list;
  }

  Result<Json> multi(const Node& node, const Json& value) const {
    if (value.is_null()) return Json();
    const bool is_object = node.kind == NodeKind::multi_object;
    Json all = is_object ? Json::object() : Json::array();
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      TRY_ASSIGN(Json one, of(node.children[i], value));
      if (is_object)
        all[node.names[i]] = std::move(one);
      else
        all.push_back(std::move(one));
    }
    return all;
  }

  // The left side if it decides, otherwise the right side.
  Result<Json> logic(const Node& node, const Json& value, bool decides) const {
    TRY_ASSIGN(Json left, of(node.children[0], value));
    if (is_true(left) == decides) return left;
    return of(node.children[1], value);
  }

  Result<Json> comparison(const Node& node, const Json& value) const {
    TRY_ASSIGN(const Json left, of(node.children[0], value));
    TRY_ASSIGN(const Json right, of(node.children[1], value));
    if (node.name == "==") return Json(equal(left, right));
    if (node.name == "!=") return Json(!equal(left, right));
    if (!are_ordered(left, right)) return Json();
    if (node.name == "<") return Json(less(left, right));
    if (node.name == ">") return Json(less(right, left));
    return Json(node.name == "<=" ? !less(right, left) : !less(left, right));
  }

  Result<Json> function(const Node& node, const Json& value) const {
    std::vector<Argument> arguments;
    for (const Node& child : node.children) {
      Argument& argument = arguments.emplace_back();
      if (child.kind == NodeKind::reference) {
        argument.expression = [this, &inside = child.children[0]](const Json& element) {
          return of(inside, element);
        };
        continue;
      }
      TRY_ASSIGN(argument.value, of(child, value));
    }
    auto result = call(node.name, std::move(arguments));
    if (result || result.error().message.rfind("column ", 0) == 0) return result;
    return fault_at(text_, node.at, result.error().message);
  }

  std::string_view text_;
};

}  // namespace

Result<Json> evaluate(std::string_view text, const Node& node, const Json& value) {
  return Evaluator(text).of(node, value);
}

Expression::Expression(std::string text, std::shared_ptr<const Node> root)
    : text_(std::move(text)), root_(std::move(root)) {}

Result<Expression> Expression::parse(std::string_view text) {
  TRY_ASSIGN(Node root, jmespath::parse(text));
  return Expression(std::string(text), std::make_shared<const Node>(std::move(root)));
}

Result<Json> Expression::search(const Json& document) const {
  return evaluate(text_, *root_, document);
}

}  // namespace lockstep::cli::jmespath
