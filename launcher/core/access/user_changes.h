#pragma once
// Turns a request to change users, keys, roles or projects into the facts that record it, in order,
// or into a refusal. Pure functions over Principals; authority.h decides whether the caller may ask
// at all. Repeating a request that is already fulfilled gives no facts and the same answer.

#include <string>
#include <variant>
#include <vector>

#include "launcher/core/base/keys_file.h"
#include "launcher/state/people/principals.h"

namespace lockstep::launcher {

using PrincipalFact =
    std::variant<ProjectCreated, ProjectRemoved, UserAdded, UserAccountSet, UserRemoved,
                 RoleGranted, RoleWithdrawn, UserKeyAdded, UserKeyRevoked, QuotaSet>;

struct PrincipalChange {
  std::vector<PrincipalFact> facts;
  std::string message;  // for the person who asked
};

// The name of the current user whom people call so. If a user was removed and added again, the new
// one is a different user with a name of its own ("ann~2") who owns nothing of the first.
std::string current_user_name(const Principals& now, const std::string& name);

// The facts of a change. `by` is the name of the caller.
Result<PrincipalChange> change_of(const Principals& now, const AddUser& ask, const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const RemoveUser& ask,
                                  const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const SetAccount& ask,
                                  const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const ChangeRole& ask,
                                  const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const AddKey& ask, const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const RevokeKey& ask,
                                  const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const CreateProject& ask,
                                  const std::string& by);
Result<PrincipalChange> change_of(const Principals& now, const RemoveProject& ask,
                                  const std::string& by);

Result<PrincipalChange> change_of(const Principals& now, const SetQuota& ask,
                                  const std::string& by);

struct AdoptedKeys {
  std::vector<PrincipalFact> facts;
  std::vector<std::string> skipped;  // the lines that were ignored, and why
};
AdoptedKeys adopt(Principals now, Instant at, const KeysFile& file);

}  // namespace lockstep::launcher
