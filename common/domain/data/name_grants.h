#pragma once
// The users and projects that may add versions to a name besides its owner.

#include <cstddef>
#include <set>
#include <string>

#include "common/base/table.h"

namespace lockstep {

inline constexpr std::size_t kMaxNameGrants = 200;  // the most users of one name

struct NameGrants {
  bool project = false;  // all who may submit into the name's project
  std::set<std::string> users;
  bool empty() const { return !project && users.empty(); }
  bool has(const std::string& user) const { return project || users.count(user) != 0; }
  static void table(auto& s, auto&& see) {
    see(field<1>, "project", s.project);
    see(field<2>, "users", s.users, {.bytes = 256, .count = kMaxNameGrants});
  }
  friend bool operator==(const NameGrants&, const NameGrants&) = default;
};

}  // namespace lockstep
