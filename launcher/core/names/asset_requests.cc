#include "launcher/core/names/asset_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/access/users.h"
#include "launcher/core/names/name_requests.h"
#include "launcher/core/names/objects.h"

namespace lockstep::launcher {
namespace {

// The version to register. If the newest version has the same files, it is that one: the client
// asks again because the answer was lost.
std::string version_for(const RegisteredAsset& asset, const AssetName* known, const State& state) {
  if (!asset.version.empty()) return asset.version;
  const NameKey key{name_kind_of(kind_of(asset)), asset.name};
  const AssetVersion* newest =
      known == nullptr ? nullptr : known->newest(*state.names().find(key.kind, key.name));
  if (newest != nullptr && newest->asset.has_content_of(asset)) return newest->asset.version;
  return next_version(state, key);
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

Result<Registration> registration_of(const Cluster& cluster, const CreateAssetInput& input) {
  const State& state = cluster.state;
  RegisteredAsset asset = input.asset;
  TRY(validate(asset));
  if (!asset.tree) return make_error(ErrorCode::invalid_argument, "path: the asset has no files");
  const AssetName* known = state.assets().find(kind_of(asset), asset.name);
  const NameKey key{name_kind_of(kind_of(asset)), asset.name};
  const OwnedName* name = state.names().find(key.kind, key.name);
  std::string project = project_of_new(state.principals(), input.caller, input.project);
  if (auto error = why_not_registered(state, input.caller, key, input.project, project))
    return *std::move(error);
  if (name != nullptr) project = name->project;
  asset.version = version_for(asset, known, state);
  const AssetVersion* same = known == nullptr ? nullptr : known->find(asset.version);
  if (same != nullptr) {
    if (auto error = not_as_it_is(asset, *same)) return *std::move(error);
  } else if (auto error = why_no_room(cluster, input.caller, key, project, version_bytes(asset),
                                      counted_files(input.files))) {
    return *std::move(error);
  }
  Registration registration;
  registration.fact.asset = std::move(asset);
  registration.fact.by = name_of(input.caller);
  registration.fact.project = std::move(project);
  registration.fact.owner = name != nullptr ? name->owner : registration.fact.by;
  registration.fact.files = counted_files(input.files);
  registration.is_there = same != nullptr;
  return registration;
}

void react(Context& core, const CreateAssetInput& input) {
  auto registration = registration_of(core.cluster(), input);
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
  const NameKey key{name_kind_of(ask.kind), ask.name};
  const Object object = object_of(key, *core.state.names().find(key.kind, key.name));
  if (!permitted(core, input.reply, input.caller, Permission::manage_names, object)) return;
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
