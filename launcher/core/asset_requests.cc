#include "launcher/core/asset_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"
#include "launcher/core/environment_requests.h"
#include "launcher/core/users.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxVersionsNamed = 10;     // in a refusal
constexpr std::size_t kMaxNamesCompared = 1'000;  // to find the nearest one

constexpr std::size_t kMaxCountedDigits = 17;  // a longer number is not counted on from

// The next number that no version has.
std::string next_version(const AssetName* known) {
  std::uint64_t highest = 0;
  if (known != nullptr)
    for (const AssetVersion& one : known->versions) {
      const std::string& version = one.asset.version;
      const bool digits = !version.empty() && version.size() <= kMaxCountedDigits &&
                          version.find_first_not_of("0123456789") == std::string::npos;
      if (digits) highest = std::max<std::uint64_t>(highest, std::stoull(version));
    }
  do ++highest;
  while (known != nullptr && known->find(std::to_string(highest)) != nullptr);
  return std::to_string(highest);
}

// Of a name that somebody may not see they learn only that it is taken.
std::optional<Error> not_for_this_project(const State& state, const CreateAssetInput& input,
                                          const AssetName& known) {
  const std::string& name = input.asset.name;
  const std::string_view noun = noun_of(kind_of(input.asset));
  if (!may_see(state.principals(), input.caller, known))
    return make_error(ErrorCode::permission_denied,
                      fmt::format("the name '{}' is taken: names of {}s are unique in the "
                                  "launcher; choose another with --name",
                                  name, noun));
  if (input.project.empty() || input.project == known.project) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    fmt::format("{} '{}' belongs to project {} and cannot move to another one; "
                                "leave --project {} out, or choose another name with --name",
                                noun, name, known.project, input.project));
}

// `project`: of the name if it is new.
Object object_to_write(const State& state, const Caller& caller, const AssetName* known,
                       const std::string& project) {
  const bool is_seen = known != nullptr && may_see(state.principals(), caller, *known);
  return is_seen ? object_of(*known) : Object{"", project, false, {}};
}

std::optional<Error> not_writable(const State& state, const CreateAssetInput& input,
                                  const AssetName* known, const std::string& project) {
  const Principals& principals = state.principals();
  const Object object = object_to_write(state, input.caller, known, project);
  Decision decision = may(principals, input.caller, Permission::write_names, object);
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  if (known != nullptr) return not_for_this_project(state, input, *known);
  if (principals.has_project(project)) return std::nullopt;
  return make_error(
      ErrorCode::not_found,
      fmt::format("there is no project '{}'; `lockstep project list` shows yours", project));
}

// Asked again, because the answer was lost: it is the newest, and no further one is made.
std::string version_for(const RegisteredAsset& asset, const AssetName* known) {
  if (!asset.version.empty()) return asset.version;
  const AssetVersion* newest = known == nullptr ? nullptr : known->newest();
  if (newest != nullptr && newest->asset.has_content_of(asset)) return newest->asset.version;
  return next_version(known);
}

std::optional<Error> not_as_it_is(const RegisteredAsset& asset, const AssetVersion& known) {
  if (known.asset.has_content_of(asset)) return std::nullopt;
  const std::string what = type_word(known.asset) == type_word(asset)
                               ? "other files"
                               : fmt::format("type {}", type_word(known.asset));
  return make_error(
      ErrorCode::already_exists,
      fmt::format("{} {} already exists with {}, and a version cannot be changed; choose another "
                  "version, or leave the version out to get the next number",
                  noun_of(kind_of(asset)), reference_of(asset), what));
}

std::string many(AssetKind kind, const ArchiveAssetInput& input) {
  const std::string name = fmt::format("{} {}", noun_of(kind), input.ask.name);
  return input.ask.version.empty() ? "all versions of " + name : name + ":" + input.ask.version;
}

}  // namespace

Object object_of(const AssetName& name) { return {"", name.project, false, {}}; }

bool may_see(const Principals& principals, const Caller& caller, const AssetName& name) {
  return is_allowed(principals, caller, Permission::see_names, object_of(name));
}

const AssetName* seen_asset(const State& state, const Caller& caller, AssetKind kind,
                            const std::string& name) {
  const AssetName* known = state.assets().find(kind, name);
  return known != nullptr && may_see(state.principals(), caller, *known) ? known : nullptr;
}

bool sees_asset_with(const State& state, const Caller& caller, const Digest& tree) {
  const auto& names = state.assets().with_tree(tree);
  return std::any_of(names.begin(), names.end(), [&](const Assets::Key& key) {
    return seen_asset(state, caller, key.first, key.second) != nullptr;
  });
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
        fmt::format("all versions of {} '{}' are archived; name one, or restore it with "
                    "`lockstep {} restore -n {}`",
                    noun, last.name, to_string(kind_of(last)), last.name));
  std::string versions;
  for (std::size_t i = all.size(); i > 0 && all.size() - i < kMaxVersionsNamed; --i)
    versions.append(versions.empty() ? "" : ", ").append(all[i - 1].asset.version);
  if (all.size() > kMaxVersionsNamed) versions += ", …";
  return make_error(ErrorCode::not_found, fmt::format("{} '{}' has no version '{}'; it has {}",
                                                      noun, last.name, version, versions));
}

Result<Registration> registration_of(const State& state, const CreateAssetInput& input) {
  RegisteredAsset asset = input.asset;
  TRY(validate(asset));
  if (!asset.tree) return make_error(ErrorCode::invalid_argument, "path: the asset has no files");
  const AssetName* known = state.assets().find(kind_of(asset), asset.name);
  const std::string project = project_of_new(state.principals(), input.caller, input.project);
  if (auto error = not_writable(state, input, known, project)) return *std::move(error);
  asset.version = version_for(asset, known);
  const AssetVersion* same = known == nullptr ? nullptr : known->find(asset.version);
  if (same != nullptr) {
    if (auto error = not_as_it_is(asset, *same)) return *std::move(error);
  } else if (state.assets().versions() >= kMaxAssetVersions) {
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("the launcher has {} versions of data, models and components, "
                                  "the most that are possible",
                                  kMaxAssetVersions));
  }
  Registration registration;
  registration.fact.asset = std::move(asset);
  registration.fact.by = name_of(input.caller);
  registration.fact.project = known != nullptr ? known->project : project;
  registration.is_there = same != nullptr;
  return registration;
}

void react(Context& core, const CreateAssetInput& input) {
  auto registration = registration_of(core.state, input);
  if (!registration)
    return core.refuse(input.reply, registration.error().code, registration.error().message);
  const RegisteredAsset& asset = registration->fact.asset;
  ReplyAsset reply{input.reply, kind_of(asset), asset.name, asset.version};
  if (!registration->is_there) core.emit(std::move(registration->fact));
  core.act(std::move(reply));
}

void react(Context& core, const ArchiveAssetInput& input) {
  const ArchiveAsset& ask = input.ask;
  const AssetName* known = core.state.assets().find(ask.kind, ask.name);
  if (known == nullptr) {
    const Error error = no_such_asset(core.state, input.caller, ask.kind, ask.name);
    return core.refuse(input.reply, error.code, error.message);
  }
  if (!permitted(core, input.reply, input.caller, Permission::write_names, object_of(*known)))
    return;
  if (!ask.version.empty() && known->find(ask.version) == nullptr) {
    const Error error = no_such_version(*known, ask.version);
    return core.refuse(input.reply, error.code, error.message);
  }
  const bool changes =
      std::any_of(known->versions.begin(), known->versions.end(), [&](const AssetVersion& one) {
        return one.archived != ask.archived &&
               (ask.version.empty() || one.asset.version == ask.version);
      });
  const std::string what = many(ask.kind, input);
  const std::string_view state = ask.archived ? "archived" : "not archived";
  if (!changes) return core.act(ReplyDone{input.reply, fmt::format("{}: already {}", what, state)});
  core.emit(AssetArchived{ask.kind, ask.name, ask.version, ask.archived});
  core.act(ReplyDone{input.reply, fmt::format("{}: {}", what,
                                              ask.archived ? "archived; jobs that name a version "
                                                             "still get it"
                                                           : "restored")});
}

}  // namespace lockstep::launcher
