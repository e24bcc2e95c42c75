#pragma once
// Every key of a job file that we know, in one table: what shape its value has, or that it is
// recognised and not supported yet. Also the words that a few keys take, and the nearest known key
// to a misspelt one. It reads no file.

#include <span>
#include <string>
#include <string_view>

namespace lockstep::spec {

enum class Shape {
  text,  // a scalar, as written
  whole_number,
  duration,     // seconds, or 90s, 5m, 2h
  bytes,        // 2g, 512m
  section,      // a mapping with keys of its own in this table
  retry_on,     // words and exit codes: see retry_reader.h
  outputs,      // a mapping of names to nothing, or to mappings with keys of this table
  text_map,     // a mapping with keys of the user's choice; values are scalars
  words,        // one text, split as a shell does, or a list of words
  lines,        // a list of texts, or the name of a file that has them
  patterns,     // a list of texts, or one: see keep_reader.h
  conda_file,   // the name of a conda file, or a mapping that is one: see conda_file.h
  environment,  // a name, file:PATH, or a mapping: see environment_reader.h
  not_yet,      // recognised, refused by name
};

struct KnownKey {
  std::string_view path;  // dotted; '*' = a key of the user's choice
  Shape shape;
};

std::span<const KnownKey> known_keys();
const KnownKey* find_key(std::string_view path);

// Words that a key takes.
struct KnownWord {
  std::string_view path;
  std::string_view word;
  bool supported;
};
std::span<const KnownWord> known_words();

// The full path of the known key nearest to `key` inside `section` ("" = top level): by edit
// distance, else the same key in another section. "" when nothing is near.
std::string nearest_key(std::string_view section, std::string_view key);

}  // namespace lockstep::spec
