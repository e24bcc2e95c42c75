#pragma once
// Names of environments, data, models and components, as people share them: who owns a name, who
// else may add versions to it, and the requests that change that, that delete versions, and that
// change what people note about them (docs/decisions/064-names-belong-to-who-made-them.md).

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/word.h"
#include "common/domain/data/asset.h"

namespace lockstep {

// Each kind has names of its own.
enum class NameKind { environment, data, model, component };
Word describe(NameKind kind);
std::string_view to_string(NameKind kind);  // as the verbs: "environment", "data", …
std::string_view noun_of(NameKind kind);    // in sentences: "environment", "data asset", …
NameKind name_kind_of(AssetKind kind);

// ---- requests, answered by Done ----------------------------------------------------------------

// Only the owner's or an admin's.
struct ShareName {
  static constexpr int kBody = 560;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string user;    // "": all who may submit into the name's project
  bool shared = true;  // false: they may no longer add versions
  friend bool operator==(const ShareName&, const ShareName&) = default;
};
struct DeleteVersions {
  static constexpr int kBody = 561;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string
      version;  // "": all, and the name itself, which anyone may then give to something else
  friend bool operator==(const DeleteVersions&, const DeleteVersions&) = default;
};
// Changes the description and the tags of one version. An absent description stays.
struct AnnotateVersion {
  static constexpr int kBody = 565;
  NameKind kind = NameKind::environment;
  std::string name, version;
  std::optional<std::string> description = {};
  std::map<std::string, std::string> set_tags = {};
  std::vector<std::string> remove_tags = {};  // keys; those that it does not have are ignored
  bool clear_tags = false;                    // removes all tags, before set_tags is applied
  friend bool operator==(const AnnotateVersion&, const AnnotateVersion&) = default;
};

}  // namespace lockstep
