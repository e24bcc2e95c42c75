#pragma once
// Turns a request to change users, keys, roles or projects into the facts that record it, in order,
// or into a refusal. Pure functions over Principals; whether the caller may ask at all is
// authority.h's. Asking again for what is so already gives no facts and the same answer.

#include <string>
#include <variant>
#include <vector>

#include "launcher/core/principals.h"

namespace lockstep::launcher {

using PrincipalFact =
    std::variant<ProjectCreated, ProjectRemoved, UserAdded, UserAccountSet, UserRemoved,
                 RoleGranted, RoleWithdrawn, UserKeyAdded, UserKeyRevoked, QuotaSet>;

struct PrincipalChange {
  std::vector<PrincipalFact> facts;
  std::string message;  // for the person who asked
};

// `by`: the name of who asks.
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

// keys/authorized_users as it is now: who is new in it becomes a submitter of the default project,
// `owner` (the account that runs the launcher) and root become admins; keys that left it are out.
struct KeysFile {
  struct Line {
    std::string name;
    PublicKey key;
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::string owner;
  std::vector<Line> lines;
};
struct AdoptedKeys {
  std::vector<PrincipalFact> facts;
  std::vector<std::string> skipped;  // lines that count for nothing, and why
};
AdoptedKeys adopt(Principals now, Instant at, const KeysFile& file);

}  // namespace lockstep::launcher
