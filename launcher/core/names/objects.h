#pragma once
// Names of environments, data, models and components as objects of requests: who may see which, who
// may manage one, and what is said of one that is not there.

#include <string>

#include "launcher/core/access/authority.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

Object object_of(const AssetName& name);
Object object_of(const EnvironmentVersion& version);
// The name as an object of requests. The name must outlive it.
Object object_of(const NameKey& key, const OwnedName& name);

bool may_see(const Principals& principals, const Caller& caller, const AssetName& name);
bool may_see(const Principals& principals, const Caller& caller, const EnvironmentVersion& version);

// Null: there is no such name, or the caller may not see it.
const AssetName* seen_asset(const State& state, const Caller& caller, AssetKind kind,
                            const std::string& name);

// Null: it is nobody's, or the caller may not see it.
const OwnedName* seen_name(const State& state, const Caller& caller, const NameKey& key);

// True if the caller may see a name that has a version with this tree.
bool sees_asset_with(const State& state, const Caller& caller, const Digest& tree);

// True if an environment that the caller may see is built from this tree. Then the caller's jobs
// may be built from it as well.
bool sees_context(const State& state, const Caller& caller, const Digest& tree);

// The project of a job or an environment name that the caller creates: `wanted` if it is not empty,
// else the only project that the caller may submit into, else the default project.
std::string project_of_new(const Principals& principals, const Caller& caller,
                           const std::string& wanted);

// not_found, with the nearest name that the caller may see.
Error no_such_asset(const State& state, const Caller& caller, AssetKind kind,
                    const std::string& name);

// not_found, with the versions that there are.
Error no_such_version(const AssetName& known, const std::string& version);

// Null: there is no such name, or the caller may not manage it; the request was refused.
const OwnedName* name_to_manage(Context& core, const ReplyTo& reply, const Caller& caller,
                                const NameKey& key);

// What registering a version under the name wants. A name that the caller may not see is as good as
// new here; that it is taken says why_not_registered().
struct NameClaim {
  Permission permission = Permission::create_names;
  Object object;
};
NameClaim claim_to_register(const State& state, const Caller& caller, const NameKey& key,
                            const std::string& project);

}  // namespace lockstep::launcher
