#pragma once
// The registered data and models. Part of State, and so the fold of facts.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/asset.h"

namespace lockstep::launcher {

// Registers a version. It never refers to other files later.
struct AssetRegistered {
  RegisteredAsset asset;  // with its tree
  std::string by;
  std::string project;  // of the name, set by its first version
  friend bool operator==(const AssetRegistered&, const AssetRegistered&) = default;
};
// Sets the archived flag of a version. Compaction writes this fact anew, in place of all that it
// dropped.
struct AssetArchived {
  AssetKind kind = AssetKind::data;
  std::string name;
  std::string version;  // "": all versions that the name has now
  bool archived = true;
  friend bool operator==(const AssetArchived&, const AssetArchived&) = default;
};

struct AssetVersion {
  RegisteredAsset asset;
  Instant at;
  std::string by;
  bool archived = false;
  friend bool operator==(const AssetVersion&, const AssetVersion&) = default;
};
struct AssetName {
  std::string project;
  std::vector<AssetVersion> versions;  // oldest first; not empty

  const AssetVersion* find(const std::string& version) const;  // null: it has none
  const AssetVersion* newest() const;                          // null: all are archived
  friend bool operator==(const AssetName&, const AssetName&) = default;
};

class Assets {
 public:
  using Key = std::pair<AssetKind, std::string>;

  const std::map<Key, AssetName>& names() const { return names_; }
  const AssetName* find(AssetKind kind, const std::string& name) const;  // null: there is none
  // The names that have a version with this tree.
  const std::set<Key>& with_tree(const Digest& tree) const;
  std::size_t versions() const { return versions_; }  // of all names

  void apply(Instant at, const AssetRegistered& fact);
  void apply(const AssetArchived& fact);

  friend bool operator==(const Assets&, const Assets&) = default;

 private:
  std::map<Key, AssetName> names_;
  std::map<Digest, std::set<Key>> trees_;
  std::size_t versions_ = 0;
};

}  // namespace lockstep::launcher
