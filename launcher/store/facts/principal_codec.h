#pragma once
// Facts about users, keys, roles and projects as journal rows: a part of fact_codec.h.

#include "common/wire/fields.h"
#include "launcher/state/people/principals.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(launcher::ProjectCreated, ProjectCreated);
LOCKSTEP_CODEC(launcher::ProjectRemoved, ProjectRemoved);
LOCKSTEP_CODEC(launcher::UserAdded, UserAdded);
LOCKSTEP_CODEC(launcher::UserAccountSet, UserAccountSet);
LOCKSTEP_CODEC(launcher::UserRemoved, UserRemoved);
LOCKSTEP_CODEC(launcher::RoleGranted, RoleGranted);
LOCKSTEP_CODEC(launcher::RoleWithdrawn, RoleWithdrawn);
LOCKSTEP_CODEC(launcher::UserKeyAdded, UserKeyAdded);
LOCKSTEP_CODEC(launcher::UserKeyRevoked, UserKeyRevoked);
LOCKSTEP_CODEC(launcher::QuotaSet, QuotaSet);

}  // namespace lockstep::pb
