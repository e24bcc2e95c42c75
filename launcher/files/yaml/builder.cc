#include "launcher/files/yaml/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::spec {

namespace {

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";
constexpr std::string_view kMergeKey = "<<";

bool known_tag(const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!") return true;
  if (tag.rfind(kCoreTags, 0) != 0) return false;
  const std::string_view word = std::string_view(tag).substr(kCoreTags.size());
  for (std::string_view good : {"str", "int", "float", "bool", "null", "map", "seq"})
    if (word == good) return true;
  return false;
}

std::size_t depth_of(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

// Whether a quote is closed: yaml-cpp accepts the end of the file as the end of a quoted text.
bool quote_is_closed(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {  // skips a tag or an anchor
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
      ++at;  // '' is an escape in single quotes
    }
  }
  return false;
}

// Merges the entries; those of `own` take precedence. Each keeps its place.
std::vector<YamlEntry> with_merged(std::vector<YamlNode> merged, std::vector<YamlEntry> own) {
  std::vector<YamlEntry> all;
  std::map<std::string, std::size_t> indexes;
  const auto put = [&](std::vector<YamlEntry>& entries) {
    for (YamlEntry& entry : entries) {
      const auto [known, is_new] = indexes.try_emplace(entry.key, all.size());
      if (is_new)
        all.push_back(std::move(entry));
      else
        all[known->second] = std::move(entry);
    }
  };
  for (YamlNode& mapping : merged) put(mapping.entries);
  put(own);
  return all;
}

}  // namespace

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1, static_cast<std::size_t>(mark.pos), {}, nullptr};
}

TreeBuilder::Weight TreeBuilder::weight_of(const YamlNode& node) {
  Weight weight{1, node.text.size()};
  for (const auto& item : node.items) weight += weight_of(item);
  for (const auto& entry : node.entries) {
    weight += weight_of(entry.value);
    weight.bytes += entry.key.size();
  }
  return weight;
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  YamlNode node;
  node.place = place_of(mark);
  finish(std::move(node), anchor, {1, 0});
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (problem_) return;
  const auto it = anchors_.find(anchor);
  if (it == anchors_.end())
    return fail(place_of(mark), "this alias refers to the value that contains it");
  if (stack_.size() + depth_of(it->second) > kMaxDepth) return too_deep(place_of(mark));
  const Weight weight = weight_of(it->second);
  if (is_too_much(weight, place_of(mark))) return;
  YamlNode copy = it->second;
  copy.place = place_of(mark);
  finish(std::move(copy), 0, weight);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  if (!tag_is_known(mark, tag)) return;
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = value;
  node.is_plain = tag == "?";
  node.place = place_of(mark);
  if (!quote_is_closed(text_, node.place.offset))
    return fail(
        node.place,
        "bad YAML: the quote that opens here is never closed; add the same quote at the end "
        "of the value");
  finish(std::move(node), anchor, {1, value.size()});
}

bool TreeBuilder::is_too_much(const Weight& more, const Place& place) {
  if (total_.nodes + more.nodes > max_nodes_)
    fail(place, fmt::format("the document has more than {} values (aliases expanded)", max_nodes_));
  else if (total_.bytes + more.bytes > max_bytes_)
    fail(place,
         fmt::format("the document has more than {} bytes of text (aliases expanded)", max_bytes_));
  return problem_.has_value();
}

void TreeBuilder::too_deep(Place place) {
  fail(std::move(place), fmt::format("is nested more than {} levels deep", kMaxDepth));
}

bool TreeBuilder::tag_is_known(const YAML::Mark& mark, const std::string& tag) {
  if (problem_) return false;
  if (known_tag(tag)) return true;
  fail(place_of(mark), fmt::format("the YAML tag '{}' is not supported", tag));
  return false;
}

void TreeBuilder::begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                        YAML::anchor_t anchor) {
  if (!tag_is_known(mark, tag)) return;
  if (stack_.size() >= kMaxDepth) return too_deep(place_of(mark));
  Frame frame;
  frame.node.kind = kind;
  frame.node.place = place_of(mark);
  frame.anchor = anchor;
  stack_.push_back(std::move(frame));
}

void TreeBuilder::end() {
  if (problem_ || stack_.empty()) return;
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  if (!frame.merged.empty())
    frame.node.entries = with_merged(std::move(frame.merged), std::move(frame.node.entries));
  finish(std::move(frame.node), frame.anchor, {1, 0});
}

void TreeBuilder::finish(YamlNode node, YAML::anchor_t anchor, Weight weight) {
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
  if (top.node.kind == YamlNode::Kind::sequence)
    top.node.items.push_back(std::move(node));
  else if (top.open_key)
    take_value(top, std::move(node));
  else
    open_key(top, node);
}

void TreeBuilder::take_value(Frame& top, YamlNode value) {
  YamlEntry entry = *std::exchange(top.open_key, std::nullopt);
  switch (top.next) {
    case Next::is_dropped: return;
    case Next::is_merged: return take_merged(top, entry.place, std::move(value));
    case Next::is_kept: break;
  }
  entry.value = std::move(value);
  top.node.entries.push_back(std::move(entry));
}

// Takes merged mappings; in a list, the first one takes precedence.
void TreeBuilder::take_merged(Frame& top, const Place& key, YamlNode value) {
  std::vector<YamlNode> mappings;
  if (value.kind == YamlNode::Kind::sequence)
    mappings = std::move(value.items);
  else
    mappings.push_back(std::move(value));
  for (const YamlNode& mapping : mappings)
    if (mapping.kind != YamlNode::Kind::mapping)
      return fail(mapping.kind == YamlNode::Kind::null ? key : mapping.place,
                  fmt::format("'<<' merges a mapping or a list of mappings into this one, as in "
                              "<<: *base, not {}",
                              describe(mapping.kind)));
  std::move(mappings.rbegin(), mappings.rend(), std::back_inserter(top.merged));
}

void TreeBuilder::open_key(Frame& top, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar)
    return fail(node.place, "a key must be a word, not " + std::string(describe(node.kind)));
  top.open_key = YamlEntry{node.text, node.place, {}};
  top.next = Next::is_merged;
  if (node.is_plain && node.text == kMergeKey) return;
  const auto [first, is_new] = top.lines.try_emplace(node.text, node.place.line);
  if (!is_new)
    duplicates_.push_back(
        {node.place, fmt::format("duplicate key '{}'; it was first given on line {}", node.text,
                                 first->second)});
  top.next = is_new ? Next::is_kept : Next::is_dropped;
}

}  // namespace lockstep::spec
