#include "launcher/gateway/http/site/router.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

struct TypeName {
  std::string_view name;
  ParameterType type;
};
constexpr std::array kTypes = {
    TypeName{"name", ParameterType::name}, TypeName{"number", ParameterType::number},
    TypeName{"digest", ParameterType::digest}, TypeName{"rest", ParameterType::rest}};

std::vector<std::string_view> segments_of(std::string_view pattern) {
  std::vector<std::string_view> segments;
  while (pattern.starts_with('/')) {
    pattern.remove_prefix(1);
    const auto slash = std::min(pattern.find('/'), pattern.size());
    segments.push_back(pattern.substr(0, slash));
    pattern.remove_prefix(slash);
  }
  CHECK(pattern.empty(), "a pattern does not begin with '/'");
  if (segments.size() == 1 && segments[0].empty()) segments.clear();  // "/"
  return segments;
}

struct Parameter {
  std::string name;
  ParameterType type;
};
std::optional<Parameter> parameter_of(std::string_view segment) {
  if (!segment.starts_with('{')) return std::nullopt;
  const auto colon = segment.find(':');
  CHECK(segment.ends_with('}') && colon != std::string_view::npos && colon > 1,
        "a parameter of a pattern is not of the form {name:type}");
  const std::string_view type = segment.substr(colon + 1, segment.size() - colon - 2);
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const TypeName& each) { return each.name == type; });
  CHECK(found != kTypes.end(), "a parameter of a pattern has a type that is not there");
  return Parameter{std::string(segment.substr(1, colon - 1)), found->type};
}

using Segments = std::vector<std::string>;
using ParameterValue = std::variant<std::string, std::uint64_t, Digest>;

// The value at segments[at], and how many segments it takes.
std::optional<ParameterValue> value_of(ParameterType type, const Segments& segments,
                                       std::size_t at) {
  const std::string& segment = segments[at];
  switch (type) {
    case ParameterType::name:
      if (segment.empty()) return std::nullopt;
      return segment;
    case ParameterType::number: {
      const auto number = parse_decimal(segment);
      if (!number) return std::nullopt;
      return *number;
    }
    case ParameterType::digest: {
      const auto digest = Digest::from_hex(segment);
      if (!digest) return std::nullopt;
      return *digest;
    }
    case ParameterType::rest: {
      std::string path;
      for (std::size_t i = at; i < segments.size(); ++i) {
        if (segments[i].empty()) return std::nullopt;
        path += (i == at ? "" : "/") + segments[i];
      }
      return path;
    }
  }
  return std::nullopt;
}

}  // namespace

struct PatternTree::Node {
  struct Branch {
    std::string name;
    ParameterType type;
    std::unique_ptr<Node> node;
  };
  std::optional<std::size_t> number;  // of the pattern that ends here
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::vector<Branch> branches;

  bool find(const Segments& segments, std::size_t at, Found& found) const;
};

PatternTree::PatternTree() : root_(std::make_unique<Node>()) {}
PatternTree::~PatternTree() = default;
PatternTree::PatternTree(PatternTree&& other) noexcept = default;

std::size_t PatternTree::add(std::string_view pattern) {
  Node* node = root_.get();
  for (const std::string_view segment : segments_of(pattern)) {
    const auto parameter = parameter_of(segment);
    if (!parameter) {
      auto& next = node->literals[std::string(segment)];
      if (!next) next = std::make_unique<Node>();
      node = next.get();
      continue;
    }
    auto branch = std::find_if(node->branches.begin(), node->branches.end(),
                               [&](const auto& each) { return each.type == parameter->type; });
    if (branch == node->branches.end()) {
      node->branches.push_back({parameter->name, parameter->type, std::make_unique<Node>()});
      branch = std::prev(node->branches.end());
    }
    CHECK(branch->name == parameter->name, "two patterns call the same parameter by two names");
    node = branch->node.get();
  }
  if (!node->number) node->number = last_++;
  return *node->number;
}

bool PatternTree::Node::find(const Segments& segments, std::size_t at, Found& found) const {
  if (at == segments.size()) {
    if (!number) return false;
    found.number = *number;
    return true;
  }
  if (const auto literal = literals.find(segments[at]); literal != literals.end())
    if (literal->second->find(segments, at + 1, found)) return true;
  for (const Branch& branch : branches) {
    auto value = value_of(branch.type, segments, at);
    if (!value) continue;
    const bool takes_all = branch.type == ParameterType::rest;
    found.parameters.values_.emplace_back(branch.name, *std::move(value));
    if (branch.node->find(segments, takes_all ? segments.size() : at + 1, found)) return true;
    found.parameters.values_.pop_back();
  }
  return false;
}

std::optional<PatternTree::Found> PatternTree::find(const Target& target) const {
  Found found;
  if (!root_->find(target.segments, 0, found)) return std::nullopt;
  return found;
}

const Parameters::Value& Parameters::value(std::string_view name) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const auto& each) { return each.first == name; });
  CHECK(found != values_.end(), "the pattern of a route has no parameter of that name");
  return found->second;
}

const std::string& Parameters::text(std::string_view name) const {
  const auto* text = std::get_if<std::string>(&value(name));
  CHECK(text != nullptr, "a parameter is of another type");
  return *text;
}

std::uint64_t Parameters::number(std::string_view name) const {
  const auto* number = std::get_if<std::uint64_t>(&value(name));
  CHECK(number != nullptr, "a parameter is of another type");
  return *number;
}

const Digest& Parameters::digest(std::string_view name) const {
  const auto* digest = std::get_if<Digest>(&value(name));
  CHECK(digest != nullptr, "a parameter is of another type");
  return *digest;
}

}  // namespace lockstep::http
