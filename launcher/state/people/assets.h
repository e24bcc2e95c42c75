#pragma once
// The registered data and models. Part of State, and so the fold of facts.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/data/asset.h"
#include "launcher/state/people/names.h"

namespace lockstep::launcher {

// Registers a version. Its files never change later.
struct AssetRegistered {
  static constexpr int kBody = 111;
  RegisteredAsset asset;  // the asset, with its tree
  std::string by;
  std::string project;     // the project of the name; set by its first version
  std::string owner = {};  // the owner of the name; "": from before names had owners
  // True for a version from before names had owners, by a user whom the owner had not allowed.
  bool foreign = false;
  // The size of its files and folder objects for quotas; absent: from before quotas counted them.
  std::optional<Bytes> files = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "asset", s.asset);
    see(field<2>, "by", s.by);
    see(field<3>, "project", s.project);
    see(field<53>, "owner", s.owner);
    see(field<54>, "foreign", s.foreign);
    see(field<77>, "files", s.files);
  }
  static void mend(AssetRegistered& s) {
    if (s.files) s.files = counted_files(*s.files);
  }
  friend bool operator==(const AssetRegistered&, const AssetRegistered&) = default;
};
// Sets the archived flag of a version. Compaction writes this fact in place of all such facts that
// it dropped.
struct AssetArchived {
  static constexpr int kBody = 112;
  AssetKind kind = AssetKind::data;
  std::string name;
  std::string version;  // "": all current versions of the name
  bool archived = true;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "archived", s.archived);
  }
  friend bool operator==(const AssetArchived&, const AssetArchived&) = default;
};

struct AssetVersion {
  RegisteredAsset asset;
  Instant at;
  std::string by;
  bool archived = false;
  bool foreign = false;  // see AssetRegistered
  std::optional<Bytes> files = {};
  friend bool operator==(const AssetVersion&, const AssetVersion&) = default;
};
struct AssetName {
  std::string project;
  std::vector<AssetVersion> versions;  // oldest first; not empty

  // null: the name does not have the version
  const AssetVersion* find(const std::string& version) const;
  // The version that @latest means. null: all versions are archived, or were added by users whom
  // the owner has not allowed.
  const AssetVersion* newest(const OwnedName& name) const;
  friend bool operator==(const AssetName&, const AssetName&) = default;
};

class Assets {
 public:
  using Key = std::pair<AssetKind, std::string>;

  const std::map<Key, AssetName>& names() const { return names_; }
  const AssetName* find(AssetKind kind, const std::string& name) const;  // null: there is none
  // The names that have versions with this tree, and the number of these versions.
  const std::map<Key, std::size_t>& with_tree(const Digest& tree) const;

  void apply(Instant at, const AssetRegistered& fact, bool foreign);
  void apply(const AssetArchived& fact);
  // Changes a version's texts. `fact` must be about a version of this kind.
  void annotate(AssetKind kind, const VersionAnnotated& fact);
  // Removes a version and returns it; `version` "": the newest. nullopt: it does not exist.
  std::optional<AssetVersion> remove(AssetKind kind, const std::string& name,
                                     const std::string& version);

  friend bool operator==(const Assets&, const Assets&) = default;

 private:
  std::map<Key, AssetName> names_;
  std::map<Digest, std::map<Key, std::size_t>> trees_;
};

}  // namespace lockstep::launcher
