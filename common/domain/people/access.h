#pragma once
// Users of a launcher, their keys, roles and projects, as plain values. A key belongs to one user.
// A user has roles. A viewer's or submitter's role holds in one project only. For the rights of
// each role see launcher/core/access/authority.h.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep {

// The roles. `priority` alone gives nothing but the right to the priority high, in its project.
enum class Role { viewer, submitter, operator_, admin, priority };
Word describe(Role role);
std::string_view to_string(Role role);  // "operator", …
std::optional<Role> role_from(std::string_view word);
inline constexpr Role kRoles[] = {Role::viewer, Role::submitter, Role::priority, Role::operator_,
                                  Role::admin};

// True for submitters, viewers and who may use priority high: they belong to a project. Admins and
// operators act for the whole launcher.
bool is_of_project(Role role);

struct Grant {
  Role role = Role::viewer;
  std::string project;  // "" for a role of the whole launcher
  static void table(auto& s, auto&& see) {
    see(field<1>, "role", s.role);
    see(field<2>, "project", s.project, kUserNameRule);
  }
  friend auto operator<=>(const Grant&, const Grant&) = default;
};
std::string to_string(const Grant& grant);  // "submitter in default", "admin"

// Whether a node that joins with a token gets no work until an admin approves it.
enum class Approval {
  as_configured,  // the default of lockstepd --approve-nodes
  required,
  waived,  // used by `lockstep up` for the nodes that it starts itself
};
Word describe(Approval approval);

// Jobs and environment names from before projects existed are in this one.
inline constexpr std::string_view kDefaultProject = "default";
inline constexpr std::size_t kMaxUserNameBytes = 32;  // the same limit as for a Linux account
inline constexpr std::size_t kMaxProjectNameBytes = 63;
inline constexpr std::size_t kMaxKeysPerUser = 64;
inline constexpr std::size_t kMaxUsers = 10'000;
inline constexpr std::size_t kMaxProjects = 1'000;

// Checks a user's name. Returns invalid_argument with the characters that are allowed.
Status validate_user_name(const std::string& name);
Status validate_project_name(const std::string& name);
// Checks the name of a user who may exist already: a user who was added again has a name such as
// "ann~2".
Status validate_known_user_name(const std::string& name);

// ---- requests ----------------------------------------------------------------------------------

struct AddUser {
  std::string name;
  std::string account;  // the user's jobs run as this account; "" = the user's name
  std::optional<PublicKey> key;
  Grant grant;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "account", s.account, kUserNameRule);
    see(field<3>, "key", s.key);
    see(field<4>, "grant", s.grant);
  }
  friend bool operator==(const AddUser&, const AddUser&) = default;
};
// Removes the user for ever. A user who is added by the same name later is another one, with a name
// of its own ("ann~2"), and owns nothing of the first.
struct RemoveUser {
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kUserNameRule); }
  friend bool operator==(const RemoveUser&, const RemoveUser&) = default;
};
struct SetAccount {
  std::string name, account;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "account", s.account, kUserNameRule);
  }
  friend bool operator==(const SetAccount&, const SetAccount&) = default;
};
struct ChangeRole {
  std::string name;
  Grant grant;
  bool withdraw = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "grant", s.grant);
    see(field<3>, "withdraw", s.withdraw);
  }
  friend bool operator==(const ChangeRole&, const ChangeRole&) = default;
};
// Adds a key to a user. `replaces`: the key that is revoked in the same step.
struct AddKey {
  std::string user;
  PublicKey key;
  std::optional<PublicKey> replaces;
  static void table(auto& s, auto&& see) {
    see(field<1>, "user", s.user, kUserNameRule);
    see(field<2>, "key", s.key);
    see(field<3>, "replaces", s.replaces);
  }
  friend bool operator==(const AddKey&, const AddKey&) = default;
};
struct RevokeKey {
  PublicKey key;
  static void table(auto& s, auto&& see) { see(field<1>, "key", s.key); }
  friend bool operator==(const RevokeKey&, const RevokeKey&) = default;
};
struct CreateProject {
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kUserNameRule); }
  friend bool operator==(const CreateProject&, const CreateProject&) = default;
};
struct RemoveProject {
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kUserNameRule); }
  friend bool operator==(const RemoveProject&, const RemoveProject&) = default;
};

// ---- views -------------------------------------------------------------------------------------

struct UserView {
  struct Key {
    PublicKey key;
    Instant added;
    std::string by;
    static void table(auto& s, auto&& see) {
      see(field<1>, "key", s.key);
      see(field<2>, "added", s.added);
      see(field<3>, "by", s.by, kUserNameRule);
    }
    friend bool operator==(const Key&, const Key&) = default;
  };
  std::string name, account;
  std::vector<Grant> grants;
  std::vector<Key> keys;
  Instant added;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "account", s.account, kUserNameRule);
    see(by_hand<3, 7>, "grants", s.grants);
    see(field<4>, "keys", s.keys, {.count = kMaxKeysPerUser});
    see(field<5>, "added", s.added);
    see(field<6>, "by", s.by, kUserNameRule);
  }
  friend bool operator==(const UserView&, const UserView&) = default;
};
struct ProjectView {
  std::string name;
  Instant created;
  std::string by;
  std::vector<std::string> users;  // the users who have a role in the project
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "created", s.created);
    see(field<3>, "by", s.by, kUserNameRule);
    see(field<4>, "users", s.users, {.count = kMaxUsers});
  }
  friend bool operator==(const ProjectView&, const ProjectView&) = default;
};

}  // namespace lockstep
