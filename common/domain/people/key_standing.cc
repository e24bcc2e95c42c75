#include "common/domain/people/key_standing.h"

namespace lockstep {

Word describe(KeyStanding::Kind kind) {
  switch (kind) {
    case KeyStanding::Kind::unknown: return {0, "unknown"};
    case KeyStanding::Kind::valid: return {1, "valid"};
    case KeyStanding::Kind::revoked: return {2, "revoked"};
    case KeyStanding::Kind::user_removed: return {3, "user_removed"};
    case KeyStanding::Kind::line_removed: return {4, "line_removed"};
  }
  return {};
}

std::string to_string(const KeyStanding& standing) {
  const std::string user = standing.user.empty() ? "" : " of user '" + standing.user + "'";
  const std::string when = " at " + to_string(standing.at) + " by " + standing.by;
  switch (standing.kind) {
    case KeyStanding::Kind::unknown:
    case KeyStanding::Kind::valid: return "";
    case KeyStanding::Kind::revoked: return "this key" + user + " was revoked" + when;
    case KeyStanding::Kind::user_removed:
      return "user '" + standing.user + "' was removed" + when + ", and this key with the user";
    case KeyStanding::Kind::line_removed:
      return "the line with this key" + user +
             " was deleted from the launcher's keys/authorized_users at " + to_string(standing.at);
  }
  return "";
}

}  // namespace lockstep
