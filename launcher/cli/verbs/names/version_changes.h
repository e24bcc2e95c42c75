#pragma once
// Converts what `update` of environments, data, models and components is given to the request that
// the launcher applies: NAME with --version or --label, as az has it, or all in one word; --set and
// --remove. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/shared_name.h"

namespace lockstep::cli {

// The words that a person wrote.
struct VersionWords {
  std::string name, version, label;
};
struct NamedVersion {
  std::string name;
  std::string version;     // "": none was named
  bool is_latest = false;  // the person wrote "latest"
};
// `verb`: "data update", for errors.
Result<NamedVersion> read_version_words(std::string_view verb, const VersionWords& words);

// Reads changes of texts. `set`: description=TEXT or tags.KEY=VALUE; `remove`: the same without a
// value, or "tags" for all. The request names no version yet.
Result<AnnotateVersion> read_version_changes(std::string_view verb,
                                             const std::vector<std::string>& set,
                                             const std::vector<std::string>& remove);

}  // namespace lockstep::cli
