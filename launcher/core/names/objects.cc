#include "launcher/core/names/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/core/access/users.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxVersionsNamed = 10;     // versions that one refusal names
constexpr std::size_t kMaxNamesCompared = 1'000;  // names compared to find the nearest one

}  // namespace

Object object_of(const AssetName& name) { return {"", name.project, false, {}}; }

Object object_of(const EnvironmentVersion& version) { return {"", version.project, false, {}}; }

Object object_of(const NameKey& key, const OwnedName& name) {
  Object object{name.owner, name.project, false, {}};
  object.grants = &name.grants;
  object.called = fmt::format("{} share {}", to_string(key.kind), key.name);
  return object;
}

bool may_see(const Principals& principals, const Caller& caller, const AssetName& name) {
  return is_allowed(principals, caller, Permission::see_names, object_of(name));
}

bool may_see(const Principals& principals, const Caller& caller,
             const EnvironmentVersion& version) {
  return is_allowed(principals, caller, Permission::see_names, object_of(version));
}

const AssetName* seen_asset(const State& state, const Caller& caller, AssetKind kind,
                            const std::string& name) {
  const AssetName* known = state.assets().find(kind, name);
  return known != nullptr && may_see(state.principals(), caller, *known) ? known : nullptr;
}

const OwnedName* seen_name(const State& state, const Caller& caller, const NameKey& key) {
  const OwnedName* name = state.names().find(key.kind, key.name);
  const bool is_seen = name != nullptr && is_allowed(state.principals(), caller,
                                                     Permission::see_names, object_of(key, *name));
  return is_seen ? name : nullptr;
}

bool sees_asset_with(const State& state, const Caller& caller, const Digest& tree) {
  const auto& names = state.assets().with_tree(tree);
  return std::any_of(names.begin(), names.end(), [&](const auto& entry) {
    const auto& [kind, name] = entry.first;
    return seen_asset(state, caller, kind, name) != nullptr;
  });
}

bool sees_context(const State& state, const Caller& caller, const Digest& tree) {
  const auto is_built_from_it = [&](const EnvironmentVersion& version) {
    const Digest* context = context_of(version.environment.spec.definition);
    return context != nullptr && *context == tree;
  };
  return std::any_of(state.registered().begin(), state.registered().end(), [&](const auto& name) {
    const std::vector<EnvironmentVersion>& versions = name.second;
    return may_see(state.principals(), caller, versions.front()) &&
           std::any_of(versions.begin(), versions.end(), is_built_from_it);
  });
}

std::string project_of_new(const Principals& principals, const Caller& caller,
                           const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::string only;
  if (const auto* attempt = std::get_if<AttemptCaller>(&caller)) only = attempt->project;
  const auto* asker = std::get_if<UserCaller>(&caller);
  const User* user = asker != nullptr ? principals.user(asker->name) : nullptr;
  if (user == nullptr) return only.empty() ? std::string(kDefaultProject) : only;
  for (const Grant& grant : user->grants) {
    if (grant.role != Role::submitter) continue;
    if (!only.empty()) return std::string(kDefaultProject);
    only = grant.project;
  }
  return only.empty() ? std::string(kDefaultProject) : only;
}

Error no_such_asset(const State& state, const Caller& caller, AssetKind kind,
                    const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& [key, known] : state.assets().names())
    if (key.first == kind && names.size() < kMaxNamesCompared &&
        may_see(state.principals(), caller, known))
      names.push_back(key.second);
  const std::string near = nearest(name, names);
  return make_error(
      ErrorCode::not_found,
      fmt::format("there is no {} '{}'; {}`lockstep {} list` shows all", noun_of(kind), name,
                  near.empty() ? "" : "did you mean '" + near + "'? ", to_string(kind)));
}

Error no_such_version(const AssetName& known, const std::string& version) {
  const auto& all = known.versions;
  const RegisteredAsset& last = all.back().asset;
  const std::string_view noun = noun_of(kind_of(last));
  if (version.empty())
    return make_error(
        ErrorCode::not_found,
        fmt::format("all versions of {0} '{1}' are archived, or by others than its owner and "
                    "those whom the owner lets; name one, or restore it with "
                    "`lockstep {2} restore -n {1}`",
                    noun, last.name, to_string(kind_of(last))));
  std::string versions;
  for (std::size_t i = all.size(); i > 0 && all.size() - i < kMaxVersionsNamed; --i)
    versions.append(versions.empty() ? "" : ", ").append(all[i - 1].asset.version);
  if (all.size() > kMaxVersionsNamed) versions += ", …";
  return make_error(ErrorCode::not_found, fmt::format("{} '{}' has no version '{}'; it has {}",
                                                      noun, last.name, version, versions));
}

namespace {

Error no_such_name(const State& state, const Caller& caller, const NameKey& key) {
  if (key.kind != NameKind::environment)
    return no_such_asset(state, caller, asset_kind_of(key.kind), key.name);
  return make_error(
      ErrorCode::not_found,
      fmt::format("there is no environment '{}'; `lockstep environment list` shows all", key.name));
}

}  // namespace

const OwnedName* name_to_manage(Context& core, const ReplyTo& reply, const Caller& caller,
                                const NameKey& key) {
  const OwnedName* name = core.state.names().find(key.kind, key.name);
  if (name == nullptr) {
    const Error error = no_such_name(core.state, caller, key);
    core.refuse(reply, error.code, error.message);
    return nullptr;
  }
  return permitted(core, reply, caller, Permission::manage_names, object_of(key, *name)) ? name
                                                                                         : nullptr;
}

NameClaim claim_to_register(const State& state, const Caller& caller, const NameKey& key,
                            const std::string& project) {
  if (const OwnedName* name = seen_name(state, caller, key))
    return {Permission::write_names, object_of(key, *name)};
  return {Permission::create_names, Object{"", project, false, {}}};
}

}  // namespace lockstep::launcher
