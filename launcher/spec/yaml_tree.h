#pragma once
// A YAML document as plain values that know where they stand: each key and value carries its line
// and column, or the --set override it came from. Aliases are expanded under a bound. It owns no
// file and knows no job: what the keys mean is job_reader's part.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::spec {

// Named bounds of a job file.
inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr std::size_t kMaxNodes = 20'000;  // after aliases are expanded
inline constexpr std::size_t kMaxDepth = 32;
inline constexpr std::size_t kMaxExpansion = 4;  // of a text by its aliases, in bytes

struct Place {
  int line = 1;  // 1-based, as editors count
  int column = 1;
  std::size_t offset = 0;                    // in bytes, where the text begins
  std::optional<std::string> override_text;  // "k.l=v" of a --set; absent = the file
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  std::string text;  // scalar: as written, quotes removed
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

// The text of a file and the name people know it by: makes errors that say where.
struct Source {
  std::string name;
  std::string_view text;
  std::string_view what = "a job file";
  std::string_view least = "a 'command'";  // what it must have
  std::size_t max_bytes = kMaxFileBytes;
  std::size_t max_nodes = kMaxNodes;

  // "job.yml:2:1: MESSAGE", or "--set k.l=v: MESSAGE".
  Error error(const Place& place, std::string_view message,
              ErrorCode code = ErrorCode::invalid_argument) const;
  // What errors of this place begin with: "job.yml:2:1", or "--set k.l=v".
  std::string where(const Place& place) const;
  // What a path that is written in it is for us: relative ones are relative to its folder.
  std::string beside(const std::string& path) const;
  // The place of a byte of the text.
  Place place_of(std::size_t offset) const;
};

// One document whose root is a mapping; everything else is an error with its place.
Result<YamlNode> parse_yaml(const Source& source);

// Without the byte order mark that some editors put first.
std::string_view without_mark(std::string_view text);
// That it is UTF-8 and has no control characters but tabs and ends of lines.
Status check_text(const Source& source);

// Applies "k.l=v": makes what is missing on the way, replaces what is there. A value that starts
// with { or [ is YAML; any other is taken as written.
Status apply_override(YamlNode& root, const std::string& assignment);

// "a mapping", "a list", "a value", "nothing": for messages.
std::string_view describe(YamlNode::Kind kind);

}  // namespace lockstep::spec
