#include "common/wire/people/access_codec.h"

#include "common/wire/people/quota_codec.h"
#include "common/wire/table_codec.h"
#include "proto/access.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::Grant, Grant);
LOCKSTEP_TABLE_CODEC(lockstep::ProjectView, ProjectView);
LOCKSTEP_TABLE_CODEC(lockstep::WhoAmI, WhoAmI);
LOCKSTEP_TABLE_CODEC(lockstep::ListUsers, ListUsers);
LOCKSTEP_TABLE_CODEC(lockstep::ListProjects, ListProjects);
LOCKSTEP_TABLE_CODEC(lockstep::ChangePrincipals, ChangePrincipals);
LOCKSTEP_TABLE_CODEC(lockstep::UsersReply, UsersReply);
LOCKSTEP_TABLE_CODEC(lockstep::ProjectsReply, ProjectsReply);

void to_wire(const lockstep::UserView& from, UserView* to) {
  write_table(from, to);
  // Peers of earlier versions refuse a message with a role that they do not know. Such grants have
  // a list of their own, which those peers skip.
  for (const lockstep::Grant& grant : from.grants)
    to_wire(grant, grant.role == Role::priority ? to->add_newer_grants() : to->add_grants());
}
Status from_wire(const UserView& from, lockstep::UserView* to) {
  TRY(read_table(from, to));
  TRY(read_list(from.grants(), 2 * kMaxProjects + 2, "user_view.grants", &to->grants));
  TRY(check_count(from.newer_grants_size(), kMaxProjects + 1, "user_view.newer_grants"));
  for (const Grant& grant : from.newer_grants()) {
    lockstep::Grant known;
    if (from_wire(grant, &known)) to->grants.push_back(std::move(known));
  }
  return {};
}

}  // namespace lockstep::pb
