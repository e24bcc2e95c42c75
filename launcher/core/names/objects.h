#pragma once
// Names of environments, data, models and components as objects of requests: who may see and who
// may manage a name, and the errors for names that do not exist.

#include <string>

#include "launcher/core/access/authority.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

Object object_of(const AssetName& name);
Object object_of(const EnvironmentVersion& version);
// The name as an object of requests. `name` must outlive it.
Object object_of(const NameKey& key, const OwnedName& name);

bool may_see(const Principals& principals, const Caller& caller, const AssetName& name);
bool may_see(const Principals& principals, const Caller& caller, const EnvironmentVersion& version);

// Finds an asset; null: the name does not exist, or the caller may not see it.
const AssetName* seen_asset(const State& state, const Caller& caller, AssetKind kind,
                            const std::string& name);

// Finds a name; null: it has no owner, or the caller may not see it.
const OwnedName* seen_name(const State& state, const Caller& caller, const NameKey& key);

// True if the caller may see a name that has a version with this tree.
bool sees_asset_with(const State& state, const Caller& caller, const Digest& tree);

// True if an environment that the caller may see is built from this tree. Then the caller's jobs
// may be built from it as well.
bool sees_context(const State& state, const Caller& caller, const Digest& tree);

// The project of a job or a name that the caller creates: `wanted` if it is not empty, otherwise
// the only project that the caller may submit to, otherwise the default project.
std::string project_of_new(const Principals& principals, const Caller& caller,
                           const std::string& wanted);

// The not_found error, with the nearest name that the caller may see.
Error no_such_asset(const State& state, const Caller& caller, AssetKind kind,
                    const std::string& name);

// The not_found error, with the existing versions of the name.
Error no_such_version(const AssetName& known, const std::string& version);

// Finds a name to change; null: it does not exist or the caller may not manage it, and the request
// was refused.
const OwnedName* name_to_manage(Context& core, const ReplyTo& reply, const Caller& caller,
                                const NameKey& key);

// The rights that a registration of a version under a name needs. A name that the caller may not
// see is treated as a new one here; why_not_registered() then says that it is taken.
struct NameClaim {
  Permission permission = Permission::create_names;
  Object object;
};
NameClaim claim_to_register(const State& state, const Caller& caller, const NameKey& key,
                            const std::string& project);

}  // namespace lockstep::launcher
