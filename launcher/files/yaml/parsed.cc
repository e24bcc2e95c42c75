#include "launcher/files/yaml/parsed.h"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "launcher/files/yaml/builder.h"
#include "launcher/files/yaml/errors.h"

namespace lockstep::spec {

namespace {

// The first error so far, if any.
std::optional<Error> first_problem(const Source& source, const TreeBuilder& builder) {
  const auto& duplicates = builder.duplicates();
  const auto* problem = !duplicates.empty() ? &duplicates.front()
                        : builder.problem() ? &*builder.problem()
                                            : nullptr;
  if (problem == nullptr) return std::nullopt;
  return source.error(problem->place, problem->message);
}

// Parses documents. Without `faults`, a duplicate key is an ordinary error.
Result<YamlNode> parse_documents(const Source& source, Faults* faults = nullptr) {
  std::istringstream stream{std::string(source.text)};
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    const bool any = parser.HandleNextDocument(builder);
    if (builder.problem() || faults == nullptr)
      if (auto error = first_problem(source, builder)) return *std::move(error);
    auto root = builder.take_root();
    if (!any || !root || root->kind == YamlNode::Kind::null)
      return source.error(Place{},
                          fmt::format("is empty; {} needs at least {}", source.what, source.least));
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second))
      return source.error(
          second.document_place(),
          fmt::format("a second document begins here; {} must have only one", source.what));
    for (const TreeBuilder::Problem& duplicate : builder.duplicates())
      faults->add(duplicate.place, source.error(duplicate.place, duplicate.message));
    return std::move(*root);
  } catch (const YAML::ParserException& failure) {
    if (auto error = first_problem(source, builder)) return *std::move(error);
    return syntax_error(source, place_of(failure.mark), failure.msg);
  }
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> words;
  while (true) {
    const auto dot = path.find('.');
    words.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    path.remove_prefix(dot + 1);
  }
}

void set_place(YamlNode& node, const Place& place) {
  node.place = place;
  for (auto& item : node.items) set_place(item, place);
  for (auto& entry : node.entries) {
    entry.place = place;
    set_place(entry.value, place);
  }
}

Result<YamlNode> override_value(const std::string& text, const Place& place) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = text;
  if (!text.empty() && (text[0] == '{' || text[0] == '[')) {
    auto parsed = parse_documents(Source{"value", text});
    if (!parsed) return Source{}.error(place, parsed.error().message);
    node = *std::move(parsed);
  }
  set_place(node, place);
  return node;
}

Result<YamlNode> parse_mapping(const Source& source, Faults* faults) {
  if (source.text.size() > source.max_bytes)
    return source.error(Place{}, fmt::format("has {} bytes; {} has at most {}", source.text.size(),
                                             source.what, source.max_bytes));
  TRY(check_text(source));
  TRY_ASSIGN(YamlNode root, parse_documents(source, faults));
  if (root.kind != YamlNode::Kind::mapping)
    return source.error(root.place, fmt::format("{} must be a mapping of keys to values, not {}",
                                                source.what, describe(root.kind)));
  return root;
}

}  // namespace

Result<YamlNode> parse_yaml(const Source& source) { return parse_mapping(source, nullptr); }
Result<YamlNode> parse_yaml(const Source& source, Faults& faults) {
  return parse_mapping(source, &faults);
}

Status apply_override(YamlNode& root, const std::string& assignment, const std::string& shown) {
  Place place;
  place.override_text = shown.empty() ? assignment : shown;
  const Source nowhere;
  // Source::where() would read such a text as an option of the verb.
  if (assignment.starts_with('-'))
    return make_error(
        ErrorCode::invalid_argument,
        "--set " + assignment +
            ": is not of the form key=value or key.key=value; no key begins with '-'");
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    return nowhere.error(place, "is not of the form key=value or key.key=value");
  if (!is_utf8(assignment)) return nowhere.error(place, "is not UTF-8 text");
  TRY_ASSIGN(YamlNode value, override_value(assignment.substr(equals + 1), place));
  const auto path = split_path(std::string_view(assignment).substr(0, equals));
  if (path.size() > kMaxDepth) return nowhere.error(place, "has too many levels");
  YamlNode* node = &root;
  for (const auto& word : path) {
    if (word.empty()) return nowhere.error(place, "has an empty key");
    if (node->kind == YamlNode::Kind::null) node->kind = YamlNode::Kind::mapping;
    if (node->kind != YamlNode::Kind::mapping)
      return nowhere.error(place, fmt::format("'{}' cannot be a key of {}, which is not a mapping",
                                              word, describe(node->kind)));
    auto it = std::find_if(node->entries.begin(), node->entries.end(),
                           [&](const YamlEntry& entry) { return entry.key == word; });
    if (it == node->entries.end()) {
      YamlEntry entry{word, place, {}};
      entry.value.place = place;
      it = node->entries.insert(node->entries.end(), std::move(entry));
    }
    node = &it->value;
  }
  *node = std::move(value);
  return {};
}

}  // namespace lockstep::spec
