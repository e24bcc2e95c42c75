#include "launcher/state/people/principals.h"

#include <algorithm>

namespace lockstep::launcher {

bool User::has(Role role) const {
  return std::any_of(grants.begin(), grants.end(),
                     [&](const Grant& grant) { return grant.role == role; });
}

bool User::has(Role role, const std::string& project) const {
  return grants.count({role, is_of_project(role) ? project : ""}) != 0;
}

void Principals::apply(Instant at, const ProjectCreated& fact) {
  projects_[fact.name] = {at, fact.by};
}

void Principals::apply(Instant, const ProjectRemoved& fact) {
  projects_.erase(fact.name);
  for (auto& [name, user] : users_)
    std::erase_if(user.grants, [&](const Grant& grant) { return grant.project == fact.name; });
  quotas_.erase({QuotaHolder::Kind::project, fact.name});
}

void Principals::apply(Instant at, const UserAdded& fact) {
  User user;
  user.name = fact.name;
  user.account = fact.account;
  user.added = at;
  user.by = fact.by;
  users_[fact.name] = std::move(user);
}

void Principals::apply(Instant, const UserAccountSet& fact) {
  users_.at(fact.name).account = fact.account;
}

void Principals::apply(Instant at, const UserRemoved& fact) {
  for (const auto& [key, of] : users_.at(fact.name).keys) {
    keys_.erase(key);
    ended_[key] = {KeyStanding::Kind::user_removed, fact.name, at, fact.by};
  }
  users_.erase(fact.name);
  quotas_.erase({QuotaHolder::Kind::user, fact.name});
  removed_.insert(fact.name);
}

void Principals::apply(Instant, const RoleGranted& fact) {
  users_.at(fact.user).grants.insert(fact.grant);
}

void Principals::apply(Instant, const RoleWithdrawn& fact) {
  users_.at(fact.user).grants.erase(fact.grant);
}

void Principals::apply(Instant at, const UserKeyAdded& fact) {
  users_.at(fact.user).keys[fact.key] = {fact.from_file, at, fact.by};
  keys_[fact.key] = fact.user;
  ended_.erase(fact.key);
}

void Principals::apply(Instant at, const UserKeyRevoked& fact) {
  std::string user;
  const auto found = keys_.find(fact.key);
  if (found != keys_.end()) {
    user = found->second;
    users_.at(user).keys.erase(fact.key);
    keys_.erase(found);
  }
  const auto kind = fact.for_good ? KeyStanding::Kind::revoked : KeyStanding::Kind::line_removed;
  ended_[fact.key] = {kind, std::move(user), at, fact.by};
}

bool Principals::was_revoked(const PublicKey& key) const {
  const KeyStanding* known = ended(key);
  return known != nullptr && known->kind != KeyStanding::Kind::line_removed;
}

const KeyStanding* Principals::ended(const PublicKey& key) const {
  const auto found = ended_.find(key);
  return found == ended_.end() ? nullptr : &found->second;
}

void Principals::apply(Instant, const QuotaSet& fact) {
  Quota& quota = quotas_[fact.holder];
  if (fact.value)
    quota[fact.limit] = *fact.value;
  else
    quota.erase(fact.limit);
  if (quota.empty()) quotas_.erase(fact.holder);
}

const User* Principals::user(const std::string& name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

const User* Principals::user_with_key(const PublicKey& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : user(found->second);
}

bool Principals::has_project(const std::string& name) const {
  return name == kDefaultProject || projects_.count(name) != 0;
}

int Principals::admins() const {
  return static_cast<int>(std::count_if(users_.begin(), users_.end(), [](const auto& entry) {
    return entry.second.has(Role::admin) && !entry.second.keys.empty();
  }));
}

}  // namespace lockstep::launcher
