#pragma once
// Users, keys, roles and projects on the wire: see proto/access.proto and fields.h.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/access.pb.h"

namespace lockstep::pb {

int number_of(Approval approval);
Status read_approval(int number, const char* field, Approval* to);
void to_wire(const lockstep::Grant& from, Grant* to);
Status from_wire(const Grant& from, lockstep::Grant* to);
void to_wire(const lockstep::UserView& from, UserView* to);
Status from_wire(const UserView& from, lockstep::UserView* to);
void to_wire(const lockstep::ProjectView& from, ProjectView* to);
Status from_wire(const ProjectView& from, lockstep::ProjectView* to);
void to_wire(const lockstep::WhoAmI& from, WhoAmI* to);
Status from_wire(const WhoAmI& from, lockstep::WhoAmI* to);
void to_wire(const lockstep::ListUsers& from, ListUsers* to);
Status from_wire(const ListUsers& from, lockstep::ListUsers* to);
void to_wire(const lockstep::ListProjects& from, ListProjects* to);
Status from_wire(const ListProjects& from, lockstep::ListProjects* to);
void to_wire(const lockstep::ChangePrincipals& from, ChangePrincipals* to);
Status from_wire(const ChangePrincipals& from, lockstep::ChangePrincipals* to);
void to_wire(const lockstep::UsersReply& from, UsersReply* to);
Status from_wire(const UsersReply& from, lockstep::UsersReply* to);
void to_wire(const lockstep::ProjectsReply& from, ProjectsReply* to);
Status from_wire(const ProjectsReply& from, lockstep::ProjectsReply* to);

}  // namespace lockstep::pb
