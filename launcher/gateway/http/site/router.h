#pragma once
// Which handler a path belongs to. Patterns are literal segments and typed parameters:
// "/api/v1/jobs/{job:name}/ranks/{rank:number}", "/files/{path:rest}". A literal wins over a
// parameter at the same place. The whole table is made at the start; a bad pattern is our own bug.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/check.h"
#include "common/base/digest.h"
#include "launcher/gateway/http/message/request.h"
#include "launcher/gateway/http/message/target.h"

namespace lockstep::http {

enum class ParameterType {
  name,    // one segment, not empty
  number,  // decimal digits
  digest,  // 64 hexadecimal digits in lower case
  rest,    // all segments that follow, joined by '/': a relative path that leads nowhere else
};

// What a path says, by the pattern's names. A name that the pattern does not have, or has with
// another type, is our own bug.
class Parameters {
 public:
  const std::string& text(std::string_view name) const;  // name or rest
  std::uint64_t number(std::string_view name) const;
  const Digest& digest(std::string_view name) const;

 private:
  friend class PatternTree;
  using Value = std::variant<std::string, std::uint64_t, Digest>;
  const Value& value(std::string_view name) const;
  std::vector<std::pair<std::string_view, Value>> values_;  // names live in the tree
};

// The part of Router that knows nothing of routes: patterns to numbers.
class PatternTree {
 public:
  PatternTree();
  ~PatternTree();
  PatternTree(PatternTree&& other) noexcept;
  // Patterns that match the same paths get the same number.
  std::size_t add(std::string_view pattern);
  struct Found {
    std::size_t number = 0;
    Parameters parameters;
  };
  std::optional<Found> find(const Target& target) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
  std::size_t last_ = 0;
};

template <typename Route>
class Router {
 public:
  void add(Method method, std::string_view pattern, Route route) {
    const std::size_t number = tree_.add(pattern);
    routes_.resize(std::max(routes_.size(), number + 1));
    CHECK(routes_[number].try_emplace(method, std::move(route)).second,
          "two routes have the same method and pattern");
  }

  struct Match {
    const Route* route = nullptr;
    Parameters parameters;
  };
  struct NoSuchPath {};
  struct NoSuchMethod {
    std::vector<Method> allowed;  // what the path has, HEAD and OPTIONS included
  };
  // A HEAD without a route of its own has that of GET.
  std::variant<Match, NoSuchPath, NoSuchMethod> find(Method method, const Target& target) const {
    auto found = tree_.find(target);
    if (!found) return NoSuchPath{};
    const std::map<Method, Route>& routes = routes_[found->number];
    auto route = routes.find(method);
    if (route == routes.end() && method == Method::head) route = routes.find(Method::get);
    if (route != routes.end()) return Match{&route->second, std::move(found->parameters)};
    NoSuchMethod none;
    for (const auto& [each, unused] : routes) {
      none.allowed.push_back(each);
      if (each == Method::get && !routes.contains(Method::head))
        none.allowed.push_back(Method::head);
    }
    if (!routes.contains(Method::options)) none.allowed.push_back(Method::options);
    return none;
  }

 private:
  PatternTree tree_;
  std::vector<std::map<Method, Route>> routes_;  // by the pattern's number
};

}  // namespace lockstep::http
