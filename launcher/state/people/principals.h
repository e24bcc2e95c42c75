#pragma once
// The users, keys, roles and projects of a launcher; a part of State. Like the rest of State it is
// the fold of its facts and makes no decisions: authority.h decides about a role's rights, and
// user_changes.h about changes.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/table.h"
#include "common/domain/people/access.h"
#include "common/domain/people/key_standing.h"
#include "common/domain/people/quota.h"

namespace lockstep::launcher {

// ---- facts -------------------------------------------------------------------------------------

struct ProjectCreated {
  static constexpr int kBody = 40;
  std::string name;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const ProjectCreated&, const ProjectCreated&) = default;
};
struct ProjectRemoved {
  static constexpr int kBody = 41;
  std::string name;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const ProjectRemoved&, const ProjectRemoved&) = default;
};
struct UserAdded {
  static constexpr int kBody = 42;
  std::string name;
  std::string account;  // the account as which its jobs run on the nodes
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "account", s.account);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const UserAdded&, const UserAdded&) = default;
};
struct UserAccountSet {
  static constexpr int kBody = 43;
  std::string name;
  std::string account;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "account", s.account);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const UserAccountSet&, const UserAccountSet&) = default;
};
struct UserRemoved {  // together with its keys and roles; this name is never used again
  static constexpr int kBody = 44;
  std::string name;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const UserRemoved&, const UserRemoved&) = default;
};
struct RoleGranted {
  static constexpr int kBody = 45;
  std::string user;
  Grant grant;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "user", s.user);
    see(field<2>, "grant", s.grant);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const RoleGranted&, const RoleGranted&) = default;
};
struct RoleWithdrawn {
  static constexpr int kBody = 46;
  std::string user;
  Grant grant;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "user", s.user);
    see(field<2>, "grant", s.grant);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const RoleWithdrawn&, const RoleWithdrawn&) = default;
};
struct UserKeyAdded {
  static constexpr int kBody = 47;
  std::string user;
  PublicKey key;
  bool from_file = false;  // the key is in keys/authorized_users
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "user", s.user);
    see(field<2>, "key", s.key);
    see(field<3>, "from_file", s.from_file);
    see(field<4>, "by", s.by);
  }
  friend bool operator==(const UserKeyAdded&, const UserKeyAdded&) = default;
};
struct UserKeyRevoked {
  static constexpr int kBody = 48;
  PublicKey key;
  // false: its line was deleted from keys/authorized_users, and may be added again
  bool for_good = true;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "key", s.key);
    see(field<2>, "for_good", s.for_good);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const UserKeyRevoked&, const UserKeyRevoked&) = default;
};

struct QuotaSet {
  static constexpr int kBody = 60;
  QuotaHolder holder;
  QuotaLimit limit = QuotaLimit::queued_jobs;
  std::optional<std::uint64_t> value;  // absent: the quota is removed
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "holder", s.holder);
    see(field<2>, "limit", s.limit);
    see(field<3>, "value", s.value);
    see(field<4>, "by", s.by);
  }
  friend bool operator==(const QuotaSet&, const QuotaSet&) = default;
};

// ---- state -------------------------------------------------------------------------------------

struct User {
  struct Key {
    bool from_file = false;
    Instant added;
    std::string by;
    friend bool operator==(const Key&, const Key&) = default;
  };
  std::string name;
  std::string account;
  std::map<PublicKey, Key> keys;
  std::set<Grant> grants;
  Instant added;
  std::string by;

  bool has(Role role) const;  // in any project
  bool has(Role role, const std::string& project) const;
  friend bool operator==(const User&, const User&) = default;
};

struct Project {
  Instant created;
  std::string by;
  friend bool operator==(const Project&, const Project&) = default;
};

class Principals {
 public:
  void apply(Instant at, const ProjectCreated& fact);
  void apply(Instant at, const ProjectRemoved& fact);
  void apply(Instant at, const UserAdded& fact);
  void apply(Instant at, const UserAccountSet& fact);
  void apply(Instant at, const UserRemoved& fact);
  void apply(Instant at, const RoleGranted& fact);
  void apply(Instant at, const RoleWithdrawn& fact);
  void apply(Instant at, const UserKeyAdded& fact);
  void apply(Instant at, const UserKeyRevoked& fact);
  void apply(Instant at, const QuotaSet& fact);

  const std::map<std::string, User>& users() const { return users_; }
  const User* user(const std::string& name) const;
  const User* user_with_key(const PublicKey& key) const;
  const std::map<PublicKey, std::string>& keys() const { return keys_; }
  // Whether the key is never accepted again.
  bool was_revoked(const PublicKey& key) const;
  // What happened to a key that no user has now; null: no user ever had it.
  const KeyStanding* ended(const PublicKey& key) const;
  bool was_removed(const std::string& name) const { return removed_.count(name) != 0; }
  // The projects that users created, without kDefaultProject, which always exists.
  const std::map<std::string, Project>& projects() const { return projects_; }
  bool has_project(const std::string& name) const;
  // The holders with at least one quota; see quotas.h.
  const std::map<QuotaHolder, Quota>& quotas() const { return quotas_; }
  // The number of admins who have a key.
  int admins() const;

  friend bool operator==(const Principals&, const Principals&) = default;

 private:
  std::map<std::string, User> users_;
  std::map<PublicKey, std::string> keys_;  // the user's name by key
  std::map<PublicKey, KeyStanding> ended_;
  std::set<std::string> removed_;
  std::map<std::string, Project> projects_;
  std::map<QuotaHolder, Quota> quotas_;
};

}  // namespace lockstep::launcher
