#pragma once
// What a launcher knows of a key that may sign no request: whose key it was, and why it is not
// valid any more.

#include <string>

#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep {

struct KeyStanding {
  static constexpr int kBody = 642;
  enum class Kind {
    unknown,       // the key of nobody, as far as the launcher knows
    valid,         // the key of a user, a node or a running attempt
    revoked,       // the key was revoked for good
    user_removed,  // the key's user was removed for good, with the name
    line_removed,  // the key's line in keys/authorized_users was deleted; it may come back
  };
  Kind kind = Kind::unknown;
  std::string user;
  Instant at;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "user", s.user, kNameRule);
    see(field<3>, "at", s.at);
    see(field<4>, "by", s.by, kNameRule);
  }
  friend bool operator==(const KeyStanding&, const KeyStanding&) = default;
};

Word describe(KeyStanding::Kind kind);
// "the key of user 'bob' was revoked at … by alice"; "" for unknown and valid.
std::string to_string(const KeyStanding& standing);

}  // namespace lockstep
