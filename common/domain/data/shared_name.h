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

#include "common/base/table.h"
#include "common/base/word.h"
#include "common/domain/data/asset.h"

namespace lockstep {

// Each kind has names of its own.
enum class NameKind { environment, data, model, component };
Word describe(NameKind kind);
std::string_view to_string(NameKind kind);  // The name in commands: "environment", "data", …
std::string_view noun_of(NameKind kind);  // The name in sentences: "environment", "data asset", …
NameKind name_kind_of(AssetKind kind);

// ---- requests, answered by Done ----------------------------------------------------------------

// Lets members of a project use a name, or takes that away. Only the name's owner or an admin may
// ask for it.
struct ShareName {
  static constexpr int kBody = 560;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string user;    // "": all who may submit into the name's project
  bool shared = true;  // false: they may no longer add versions
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "user", s.user, kUserNameRule);
    see(field<4>, "shared", s.shared);
  }
  friend bool operator==(const ShareName&, const ShareName&) = default;
};
struct DeleteVersions {
  static constexpr int kBody = 561;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string
      version;  // "": all, and the name itself, which anyone may then give to something else
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
  }
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
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "description", s.description);
    see(field<5>, "set_tags", s.set_tags, {.count = kMaxAssetTags});
    see(field<6>, "remove_tags", s.remove_tags, {.count = kMaxAssetTags});
    see(field<7>, "clear_tags", s.clear_tags);
  }
  friend bool operator==(const AnnotateVersion&, const AnnotateVersion&) = default;
};

}  // namespace lockstep
