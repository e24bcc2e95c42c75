#pragma once
// Who may add versions to a name beside its owner.

#include <cstddef>
#include <set>
#include <string>

namespace lockstep {

struct NameGrants {
  bool project = false;  // all who may submit into the name's project
  std::set<std::string> users;
  bool empty() const { return !project && users.empty(); }
  bool has(const std::string& user) const { return project || users.count(user) != 0; }
  friend bool operator==(const NameGrants&, const NameGrants&) = default;
};
inline constexpr std::size_t kMaxNameGrants = 200;  // users of one name

}  // namespace lockstep
