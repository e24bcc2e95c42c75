#include "launcher/spec/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "launcher/spec/parsed_yaml.h"
#include "launcher/spec/yaml_errors.h"

namespace lockstep::spec {

namespace {

Place to_place(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1, static_cast<std::size_t>(mark.pos), {}, nullptr};
}

bool known_tag(const std::string& tag) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "?" || tag == "!") return true;
  if (tag.rfind(kCore, 0) != 0) return false;
  const std::string_view word = std::string_view(tag).substr(kCore.size());
  for (std::string_view good : {"str", "int", "float", "bool", "null", "map", "seq"})
    if (word == good) return true;
  return false;
}

// What a value takes: a few aliases make a large tree of a small text.
struct Weight {
  std::size_t nodes = 0, bytes = 0;
  Weight& operator+=(const Weight& other) {
    nodes += other.nodes;
    bytes += other.bytes;
    return *this;
  }
};

Weight weight_of(const YamlNode& node) {
  Weight weight{1, node.text.size()};
  for (const auto& item : node.items) weight += weight_of(item);
  for (const auto& entry : node.entries) {
    weight += weight_of(entry.value);
    weight.bytes += entry.key.size();
  }
  return weight;
}

std::size_t depth_of(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

// yaml-cpp takes the end of the file for the end of a quoted text.
bool quote_is_closed(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {  // a tag, an anchor
    at = text.find_first_of(" \t\r\n", at);
    if (at != std::string_view::npos) at = text.find_first_not_of(" \t\r\n", at);
  }
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return true;
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return true;
      ++at;  // '' inside single quotes
    }
  }
  return false;
}

// Builds the tree from yaml-cpp's events. After the first problem it only ignores: nothing is
// thrown through the library. A key that is there already is left out, and remembered.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Source& source)
      : text_(source.text),
        max_nodes_(source.max_nodes),
        max_bytes_(kMaxExpansion * source.max_bytes) {}

  struct Problem {
    Place place;
    std::string message;
  };

  const std::optional<Problem>& problem() const { return problem_; }
  const std::vector<Problem>& duplicates() const { return duplicates_; }  // before the problem
  std::optional<YamlNode> take_root() { return std::move(root_); }
  const Place& document_place() const { return document_place_; }

  void OnDocumentStart(const YAML::Mark& mark) override { document_place_ = to_place(mark); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.place = to_place(mark);
    finish(std::move(node), anchor, {1, 0});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (problem_) return;
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end())
      return fail(to_place(mark), "this alias refers to the value that contains it");
    if (stack_.size() + depth_of(it->second) > kMaxDepth) return too_deep(to_place(mark));
    const Weight weight = weight_of(it->second);
    if (is_too_much(weight, to_place(mark))) return;
    YamlNode copy = it->second;
    copy.place = to_place(mark);
    finish(std::move(copy), 0, weight);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!tag_is_known(mark, tag)) return;
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = value;
    node.place = to_place(mark);
    if (!quote_is_closed(text_, node.place.offset))
      return fail(node.place, "bad YAML: this quote is never closed");
    finish(std::move(node), anchor, {1, value.size()});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(YamlNode::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(YamlNode::Kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlEntry> open_key;
    bool drops_value = false;          // of open_key: it is a duplicate
    std::map<std::string, int> lines;  // of its keys, where each was first given
  };

  void fail(Place place, std::string message) {
    if (!problem_) problem_ = Problem{std::move(place), std::move(message)};
  }
  bool is_too_much(const Weight& more, const Place& place) {
    if (total_.nodes + more.nodes > max_nodes_)
      fail(place,
           fmt::format("the document has more than {} values (aliases expanded)", max_nodes_));
    else if (total_.bytes + more.bytes > max_bytes_)
      fail(place, fmt::format("the document has more than {} bytes of text (aliases expanded)",
                              max_bytes_));
    return problem_.has_value();
  }
  void too_deep(Place place) {
    fail(std::move(place), fmt::format("is nested more than {} levels deep", kMaxDepth));
  }

  bool tag_is_known(const YAML::Mark& mark, const std::string& tag) {
    if (problem_) return false;
    if (known_tag(tag)) return true;
    fail(to_place(mark), fmt::format("the YAML tag '{}' is not supported", tag));
    return false;
  }

  void begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor) {
    if (!tag_is_known(mark, tag)) return;
    if (stack_.size() >= kMaxDepth) return too_deep(to_place(mark));
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = to_place(mark);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void end() {
    if (problem_ || stack_.empty()) return;
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(frame.node), frame.anchor, {1, 0});
  }

  void finish(YamlNode node, YAML::anchor_t anchor, Weight weight) {
    if (problem_) return;
    if (anchor != 0) weight += weight_of(node);
    if (is_too_much(weight, node.place)) return;
    total_ += weight;
    if (anchor != 0) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& top = stack_.back();
    if (top.node.kind == YamlNode::Kind::sequence) {
      top.node.items.push_back(std::move(node));
    } else if (top.open_key) {
      top.open_key->value = std::move(node);
      if (!top.drops_value) top.node.entries.push_back(std::move(*top.open_key));
      top.open_key.reset();
    } else {
      open_key(top, node);
    }
  }

  void open_key(Frame& top, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::scalar)
      return fail(node.place, "a key must be a word, not " + std::string(describe(node.kind)));
    if (node.text == "<<")
      return fail(node.place, "the merge key '<<' is not supported yet; repeat the keys instead");
    const auto [first, is_new] = top.lines.try_emplace(node.text, node.place.line);
    if (!is_new)
      duplicates_.push_back(
          {node.place, fmt::format("duplicate key '{}'; it was first given on line {}", node.text,
                                   first->second)});
    top.drops_value = !is_new;
    top.open_key = YamlEntry{node.text, node.place, {}};
  }

  std::string_view text_;
  std::size_t max_nodes_, max_bytes_;
  std::optional<Problem> problem_;
  std::vector<Problem> duplicates_;
  std::optional<YamlNode> root_;
  Place document_place_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  Weight total_;
};

// The first thing that is wrong, if anything is yet.
std::optional<Error> first_problem(const Source& source, const TreeBuilder& builder) {
  const auto& duplicates = builder.duplicates();
  const auto* problem = !duplicates.empty() ? &duplicates.front()
                        : builder.problem() ? &*builder.problem()
                                            : nullptr;
  if (problem == nullptr) return std::nullopt;
  return source.error(problem->place, problem->message);
}

// Without `faults`, a duplicate key is an error as any other.
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
    return syntax_error(source, to_place(failure.mark), failure.msg);
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

}  // namespace

void set_source(YamlNode& node, const Source& source) {
  node.place.source = &source;
  for (auto& item : node.items) set_source(item, source);
  for (auto& entry : node.entries) {
    entry.place.source = &source;
    set_source(entry.value, source);
  }
}

const YamlEntry* YamlNode::find(std::string_view key) const {
  for (const auto& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::scalar: return "a value";
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::mapping: return "a mapping";
  }
  return "nothing";
}

namespace {

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

Status apply_override(YamlNode& root, const std::string& assignment) {
  Place place;
  place.override_text = assignment;
  const Source nowhere;
  if (assignment.starts_with('-'))  // Source::where() takes such a text for an option of the verb
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
