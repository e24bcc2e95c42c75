#pragma once
// What a launcher knows of a key that signs no request there: the user that it was, and why it is
// none any more.

#include <string>

#include "common/base/time.h"

namespace lockstep {

struct KeyStanding {
  enum class Kind {
    unknown,       // of nobody, as far as the launcher knows
    valid,         // of a user, a node or a running attempt
    revoked,       // for good
    user_removed,  // for good, with the user's name
    line_removed,  // its line in keys/authorized_users was deleted; it may come back
  };
  Kind kind = Kind::unknown;
  std::string user;
  Instant at;
  std::string by;
  friend bool operator==(const KeyStanding&, const KeyStanding&) = default;
};

// "the key of user 'bob' was revoked at … by alice"; "" for unknown and valid.
std::string to_string(const KeyStanding& standing);

}  // namespace lockstep
