#include "launcher/state/people/assets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::launcher {

const AssetVersion* AssetName::find(const std::string& version) const {
  const auto found =
      std::find_if(versions.rbegin(), versions.rend(),
                   [&](const AssetVersion& known) { return known.asset.version == version; });
  return found == versions.rend() ? nullptr : &*found;
}

const AssetVersion* AssetName::newest(const OwnedName& name) const {
  const auto found =
      std::find_if(versions.rbegin(), versions.rend(), [&](const AssetVersion& known) {
        return !known.archived && counts(known.foreign, known.by, name);
      });
  return found == versions.rend() ? nullptr : &*found;
}

const AssetName* Assets::find(AssetKind kind, const std::string& name) const {
  const auto found = names_.find({kind, name});
  return found == names_.end() ? nullptr : &found->second;
}

const std::map<Assets::Key, std::size_t>& Assets::with_tree(const Digest& tree) const {
  static const std::map<Key, std::size_t> kNone;
  const auto found = trees_.find(tree);
  return found == trees_.end() ? kNone : found->second;
}

void Assets::apply(Instant at, const AssetRegistered& fact, bool foreign) {
  const Key key{kind_of(fact.asset), fact.asset.name};
  AssetName& name = names_[key];
  if (name.versions.empty()) name.project = fact.project;
  name.versions.push_back({fact.asset, at, fact.by, false, foreign, fact.files});
  if (fact.asset.tree) ++trees_[*fact.asset.tree][key];
}

std::optional<AssetVersion> Assets::remove(AssetKind kind, const std::string& name,
                                           const std::string& version) {
  const auto known = names_.find({kind, name});
  if (known == names_.end()) return std::nullopt;
  std::vector<AssetVersion>& all = known->second.versions;
  auto found = std::prev(all.end());
  if (!version.empty())
    found = std::find_if(all.begin(), all.end(),
                         [&](const AssetVersion& one) { return one.asset.version == version; });
  if (found == all.end()) return std::nullopt;
  AssetVersion removed = std::move(*found);
  all.erase(found);
  if (const auto& tree = removed.asset.tree) {
    const auto keys = trees_.find(*tree);
    const auto with = keys->second.find(known->first);
    if (--with->second == 0) keys->second.erase(with);
    if (keys->second.empty()) trees_.erase(keys);
  }
  if (all.empty()) names_.erase(known);
  return removed;
}

void Assets::annotate(AssetKind kind, const VersionAnnotated& fact) {
  const auto name = names_.find({kind, fact.name});
  if (name == names_.end()) return;
  std::vector<AssetVersion>& all = name->second.versions;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const AssetVersion& known) {
    return known.asset.version == fact.version;
  });
  if (found == all.rend()) return;
  found->asset.description = fact.description;
  found->asset.tags = fact.tags;
}

void Assets::apply(const AssetArchived& fact) {
  const auto name = names_.find({fact.kind, fact.name});
  if (name == names_.end()) return;
  for (AssetVersion& version : name->second.versions)
    if (fact.version.empty() || version.asset.version == fact.version)
      version.archived = fact.archived;
}

}  // namespace lockstep::launcher
