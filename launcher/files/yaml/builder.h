#pragma once
// Builds the tree of yaml/tree.h from yaml-cpp's events: places, aliases within a bound, merge keys
// ("<<: *base") as PyYAML reads them, which is az's reader. After the first problem it only
// ignores: nothing is thrown through the library. A key that is there already is left out, and
// remembered.

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

Place place_of(const YAML::Mark& mark);

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
  // the duplicate keys before the problem
  const std::vector<Problem>& duplicates() const { return duplicates_; }
  std::optional<YamlNode> take_root() { return std::move(root_); }
  const Place& document_place() const { return document_place_; }

  void OnDocumentStart(const YAML::Mark& mark) override { document_place_ = place_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
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
  // The memory that a value takes. It is limited, because a few aliases turn a small text into a
  // large tree.
  struct Weight {
    std::size_t nodes = 0, bytes = 0;
    Weight& operator+=(const Weight& other) {
      nodes += other.nodes;
      bytes += other.bytes;
      return *this;
    }
  };
  // What happens to the value that follows a key.
  enum class Next { is_kept, is_dropped, is_merged };  // is_dropped: the key is a duplicate
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlEntry> open_key;
    Next next = Next::is_kept;
    std::map<std::string, int> lines;  // its keys, with the line where each was first given
    std::vector<YamlNode> merged;      // the values of its merge keys; a later one takes precedence
  };

  static Weight weight_of(const YamlNode& node);
  void fail(Place place, std::string message) {
    if (!problem_) problem_ = Problem{std::move(place), std::move(message)};
  }
  bool is_too_much(const Weight& more, const Place& place);
  void too_deep(Place place);
  bool tag_is_known(const YAML::Mark& mark, const std::string& tag);
  void begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor);
  void end();
  void finish(YamlNode node, YAML::anchor_t anchor, Weight weight);
  void take_value(Frame& top, YamlNode value);
  void take_merged(Frame& top, const Place& key, YamlNode value);
  void open_key(Frame& top, const YamlNode& node);

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

}  // namespace lockstep::spec
