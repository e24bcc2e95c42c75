#pragma once
// A YAML document as plain values with places: each key and value carries its line and column, or
// the --set override it came from. Trees of several files can be merged: a place knows its file.
// Aliases and merge keys are expanded, within a bound. It reads no file and knows nothing of jobs:
// job_reader interprets the keys.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::spec {

// The bounds of a job file.
inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr std::size_t kMaxNodes = 20'000;  // the most nodes after aliases are expanded
// The limit for a job file, which may have many steps.
inline constexpr std::size_t kMaxJobNodes = 200'000;
inline constexpr std::size_t kMaxDepth = 128;
// The limit with aliases expanded, in multiples of max_bytes.
inline constexpr std::size_t kMaxExpansion = 4;

struct Source;

struct Place {
  int line = 1;  // 1-based, as editors count
  int column = 1;
  std::size_t offset = 0;  // in bytes from the beginning of the text
  // "k.l=v" of a --set, or another option as it was typed; absent = the file
  std::optional<std::string> override_text;
  // Another file than the reader's: see set_source. It outlives the tree.
  const Source* source = nullptr;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  std::string text;  // scalar: as written, quotes removed
  // True for a scalar of a file without quotes or a tag: YAML takes its type from its text.
  bool is_plain = false;
  // The origin of values that were put into `text`, for errors: "${{parent.inputs.n}},
  // job.yml:3:6"; "": it is as written.
  std::string filled_from;
  Place place;
  std::vector<YamlNode> items;     // sequence
  std::vector<YamlEntry> entries;  // mapping, in the order of the file

  const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

// The text of a file and its name for people. Its errors say where the fault is.
struct Source {
  std::string name;
  std::string_view text;
  std::string_view what = "a job file";
  std::string_view least = "a 'command'";  // the keys that the file must have at least
  std::size_t max_bytes = kMaxFileBytes;
  std::size_t max_nodes = kMaxNodes;
  std::size_t order = 0;  // among the files of one job; errors are sorted by it
  // True if the file belongs to a registered component, which may name less: see component_rules.h.
  bool is_registered = false;
  std::string folder = {};  // the fetched copy of its files, absolute; "" = it is not a copy

  // "job.yml:2:1: MESSAGE", or "--set k.l=v: MESSAGE".
  Error error(const Place& place, std::string_view message,
              ErrorCode code = ErrorCode::invalid_argument) const;
  // The file of a place: this one, unless the place names another.
  const Source& of(const Place& place) const { return place.source ? *place.source : *this; }
  // The prefix of errors at this place: "job.yml:2:1", or "--set k.l=v".
  std::string where(const Place& place) const;
  // Resolves a path written in the file: a relative one is relative to the file's folder.
  std::string beside(const std::string& path) const;
  // The place of a byte of the text.
  Place place_of(std::size_t offset) const;

 private:
  int column_of(const Place& place) const;
};

// Makes `source` the file of all places of a tree that was parsed from it.
void set_source(YamlNode& node, const Source& source);

// The text without the byte order mark that some editors write first.
std::string_view without_mark(std::string_view text);
bool is_utf8(std::string_view text);
// Returns an error unless the text is UTF-8 without control characters other than tabs and line
// ends.
Status check_text(const Source& source);

// "a mapping", "a list", "a value", "nothing": for messages.
std::string_view describe(YamlNode::Kind kind);

}  // namespace lockstep::spec
