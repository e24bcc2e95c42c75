#pragma once
// Reactions to requests that register and archive data and models, and who may see which.

#include "launcher/core/access/authority.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateAssetInput& input);
void react(Context& core, const ArchiveAssetInput& input);

// A version that is to be registered, or that is there already with the same files.
struct Registration {
  AssetRegistered fact;
  bool is_there = false;
};
// What registering comes to; an error says why it cannot be.
Result<Registration> registration_of(const Cluster& cluster, const CreateAssetInput& input);

Object object_of(const AssetName& name);
bool may_see(const Principals& principals, const Caller& caller, const AssetName& name);
// Null: there is no such name, or the caller may not see it.
const AssetName* seen_asset(const State& state, const Caller& caller, AssetKind kind,
                            const std::string& name);
// True if the caller may see a name that has a version with this tree.
bool sees_asset_with(const State& state, const Caller& caller, const Digest& tree);

// not_found, with the nearest name that the caller may see.
Error no_such_asset(const State& state, const Caller& caller, AssetKind kind,
                    const std::string& name);
// not_found, with the versions that there are.
Error no_such_version(const AssetName& known, const std::string& version);

}  // namespace lockstep::launcher
