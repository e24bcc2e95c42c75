#pragma once
// Users, keys, roles and projects on the wire: see proto/access.proto and fields.h.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/access.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::Grant, Grant);
LOCKSTEP_CODEC(lockstep::UserView, UserView);
LOCKSTEP_CODEC(lockstep::ProjectView, ProjectView);
LOCKSTEP_CODEC(lockstep::WhoAmI, WhoAmI);
LOCKSTEP_CODEC(lockstep::ListUsers, ListUsers);
LOCKSTEP_CODEC(lockstep::ListProjects, ListProjects);
LOCKSTEP_CODEC(lockstep::ChangePrincipals, ChangePrincipals);
LOCKSTEP_CODEC(lockstep::UsersReply, UsersReply);
LOCKSTEP_CODEC(lockstep::ProjectsReply, ProjectsReply);

}  // namespace lockstep::pb
