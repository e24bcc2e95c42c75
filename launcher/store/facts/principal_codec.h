#pragma once
// Facts about users, keys, roles and projects as journal rows: a part of fact_codec.h.

#include "launcher/state/people/principals.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::ProjectCreated& from, ProjectCreated* to);
Status from_wire(const ProjectCreated& from, launcher::ProjectCreated* to);
void to_wire(const launcher::ProjectRemoved& from, ProjectRemoved* to);
Status from_wire(const ProjectRemoved& from, launcher::ProjectRemoved* to);
void to_wire(const launcher::UserAdded& from, UserAdded* to);
Status from_wire(const UserAdded& from, launcher::UserAdded* to);
void to_wire(const launcher::UserAccountSet& from, UserAccountSet* to);
Status from_wire(const UserAccountSet& from, launcher::UserAccountSet* to);
void to_wire(const launcher::UserRemoved& from, UserRemoved* to);
Status from_wire(const UserRemoved& from, launcher::UserRemoved* to);
void to_wire(const launcher::RoleGranted& from, RoleGranted* to);
Status from_wire(const RoleGranted& from, launcher::RoleGranted* to);
void to_wire(const launcher::RoleWithdrawn& from, RoleWithdrawn* to);
Status from_wire(const RoleWithdrawn& from, launcher::RoleWithdrawn* to);
void to_wire(const launcher::UserKeyAdded& from, UserKeyAdded* to);
Status from_wire(const UserKeyAdded& from, launcher::UserKeyAdded* to);
void to_wire(const launcher::UserKeyRevoked& from, UserKeyRevoked* to);
Status from_wire(const UserKeyRevoked& from, launcher::UserKeyRevoked* to);
void to_wire(const launcher::QuotaSet& from, QuotaSet* to);
Status from_wire(const QuotaSet& from, launcher::QuotaSet* to);

}  // namespace lockstep::pb
