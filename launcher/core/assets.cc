#include "launcher/core/assets.h"

#include <algorithm>

namespace lockstep::launcher {

const AssetVersion* AssetName::find(const std::string& version) const {
  const auto found =
      std::find_if(versions.rbegin(), versions.rend(),
                   [&](const AssetVersion& known) { return known.asset.version == version; });
  return found == versions.rend() ? nullptr : &*found;
}

const AssetVersion* AssetName::newest() const {
  const auto found = std::find_if(versions.rbegin(), versions.rend(),
                                  [](const AssetVersion& known) { return !known.archived; });
  return found == versions.rend() ? nullptr : &*found;
}

const AssetName* Assets::find(AssetKind kind, const std::string& name) const {
  const auto found = names_.find({kind, name});
  return found == names_.end() ? nullptr : &found->second;
}

const std::set<Assets::Key>& Assets::with_tree(const Digest& tree) const {
  static const std::set<Key> kNone;
  const auto found = trees_.find(tree);
  return found == trees_.end() ? kNone : found->second;
}

void Assets::apply(Instant at, const AssetRegistered& fact) {
  const Key key{kind_of(fact.asset), fact.asset.name};
  AssetName& name = names_[key];
  if (name.versions.empty()) name.project = fact.project;
  name.versions.push_back({fact.asset, at, fact.by, false});
  if (fact.asset.tree) trees_[*fact.asset.tree].insert(key);
  ++versions_;
}

void Assets::apply(const AssetArchived& fact) {
  const auto name = names_.find({fact.kind, fact.name});
  if (name == names_.end()) return;
  for (AssetVersion& version : name->second.versions)
    if (fact.version.empty() || version.asset.version == fact.version)
      version.archived = fact.archived;
}

}  // namespace lockstep::launcher
