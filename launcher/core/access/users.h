#pragma once
// Reactions to requests about users, keys, roles and projects, and to a changed
// keys/authorized_users. Also permitted(), which every other reaction calls before it changes
// anything.

#include "launcher/core/access/authority.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const PrincipalInput& input);
void react(Context& core, const KeysFileInput& input);

// Checks a permission. False: the caller lacks it, and the request was refused with the reason.
bool permitted(Context& core, const ReplyTo& reply, const Caller& caller, Permission permission,
               const Object& object = {});
Object object_of(const Job& job);

// The account as which a job runs. Returns permission_denied if the caller may not choose the
// account `wanted`.
Result<std::string> account_for(const Principals& principals, const Caller& caller,
                                const std::string& wanted, bool allow_root);

}  // namespace lockstep::launcher
