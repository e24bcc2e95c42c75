// Applies facts about the names of environments, data, models and components to the state.

#include <algorithm>
#include <iterator>

#include "common/domain/environment/definition.h"
#include "launcher/state/applier.h"

namespace lockstep::launcher {

void State::Applier::operator()(const EnvironmentRegistered& fact) const {
  const EnvironmentSpec& spec = fact.environment.spec;
  const Digest definition = digest_of(spec.definition);
  auto& versions = state.registered_[spec.name];
  const std::string project = versions.empty() ? fact.project : versions.front().project;
  versions.push_back(
      {fact.environment, definition, at, fact.by, project, false, false, fact.files});
  versions.back().foreign = state.owned_names_.registered(version_of(versions.back()), fact.owner,
                                                          project, fact.foreign, state.usage_);
  ++state.named_[definition];
}

void State::Applier::operator()(const EnvironmentArchived& fact) const {
  const auto known = state.registered_.find(fact.name);
  if (known == state.registered_.end()) return;
  for (EnvironmentVersion& version : known->second)
    if (fact.version.empty() || version.environment.spec.version == fact.version)
      version.archived = fact.archived;
}

void State::Applier::operator()(const VersionAnnotated& fact) const {
  if (fact.kind == NameKind::environment) return annotate_environment(fact);
  const AssetKind kind = asset_kind_of(fact.kind);
  const AssetName* name = state.assets_.find(kind, fact.name);
  const AssetVersion* known = name == nullptr ? nullptr : name->find(fact.version);
  if (known == nullptr) return;
  const std::int64_t before = version_bytes(known->asset);
  state.assets_.annotate(kind, fact);
  grow(fact, known->by, version_bytes(known->asset) - before);
}

void State::Applier::annotate_environment(const VersionAnnotated& fact) const {
  const auto known = state.registered_.find(fact.name);
  if (known == state.registered_.end()) return;
  for (auto it = known->second.rbegin(); it != known->second.rend(); ++it) {
    RegisteredEnvironment& environment = it->environment;
    if (environment.spec.version != fact.version) continue;
    const std::int64_t before = version_bytes(environment);
    environment.description = fact.description;
    environment.tags = fact.tags;
    return grow(fact, it->by, version_bytes(environment) - before);
  }
}

void State::Applier::grow(const VersionAnnotated& fact, const std::string& by,
                          std::int64_t bytes) const {
  state.owned_names_.grown({fact.kind, fact.name}, by, bytes, state.usage_);
}

Names::Version State::Applier::version_of(const EnvironmentVersion& version) {
  const RegisteredEnvironment& environment = version.environment;
  return {{NameKind::environment, environment.spec.name},
          environment.spec.version,
          version.by,
          version_bytes(environment),
          version.files.value_or(Bytes{})};
}

void State::Applier::operator()(const VersionsDeleted& fact) const {
  while (remove_version(fact)) {
    if (!fact.version.empty()) return;
  }
  if (fact.version.empty()) state.owned_names_.released({fact.kind, fact.name}, state.usage_);
}

// Removes a version. False: it does not exist.
bool State::Applier::remove_version(const VersionsDeleted& fact) const {
  switch (fact.kind) {
    case NameKind::environment: return remove_environment(fact.name, fact.version);
    case NameKind::data: return remove_asset(AssetKind::data, fact.name, fact.version);
    case NameKind::model: return remove_asset(AssetKind::model, fact.name, fact.version);
    case NameKind::component: return remove_asset(AssetKind::component, fact.name, fact.version);
  }
  return false;
}

bool State::Applier::remove_asset(AssetKind kind, const std::string& name,
                                  const std::string& version) const {
  const auto removed = state.assets_.remove(kind, name, version);
  if (removed) state.owned_names_.deleted(version_of_asset(*removed), state.usage_);
  return removed.has_value();
}

// Removes an environment. `version` "": the newest one.
bool State::Applier::remove_environment(const std::string& name, const std::string& version) const {
  const auto known = state.registered_.find(name);
  if (known == state.registered_.end()) return false;
  std::vector<EnvironmentVersion>& all = known->second;
  auto found = std::prev(all.end());
  if (!version.empty())
    found = std::find_if(all.begin(), all.end(), [&](const EnvironmentVersion& one) {
      return one.environment.spec.version == version;
    });
  if (found == all.end()) return false;
  const Digest definition = found->definition;
  state.owned_names_.deleted(version_of(*found), state.usage_);
  all.erase(found);
  if (all.empty()) state.registered_.erase(known);
  if (const auto names = state.named_.find(definition); --names->second == 0)
    state.named_.erase(names);
  for (const EnvironmentId& id : state.environments_of(definition)) state.drop_environment(id);
  return true;
}

void State::Applier::operator()(const AssetRegistered& fact) const {
  const bool foreign = state.owned_names_.registered(version_of_asset(fact), fact.owner,
                                                     fact.project, fact.foreign, state.usage_);
  state.assets_.apply(at, fact, foreign);
}

}  // namespace lockstep::launcher
