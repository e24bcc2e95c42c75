#include "launcher/store/facts/principal_codec.h"

#include "common/wire/people/access_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/table_codec.h"
#include "proto/journal.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(launcher::ProjectCreated, ProjectCreated);
LOCKSTEP_TABLE_CODEC(launcher::ProjectRemoved, ProjectRemoved);
LOCKSTEP_TABLE_CODEC(launcher::UserAdded, UserAdded);
LOCKSTEP_TABLE_CODEC(launcher::UserAccountSet, UserAccountSet);
LOCKSTEP_TABLE_CODEC(launcher::UserRemoved, UserRemoved);
LOCKSTEP_TABLE_CODEC(launcher::RoleGranted, RoleGranted);
LOCKSTEP_TABLE_CODEC(launcher::RoleWithdrawn, RoleWithdrawn);
LOCKSTEP_TABLE_CODEC(launcher::UserKeyAdded, UserKeyAdded);
LOCKSTEP_TABLE_CODEC(launcher::UserKeyRevoked, UserKeyRevoked);
LOCKSTEP_TABLE_CODEC(launcher::QuotaSet, QuotaSet);

}  // namespace lockstep::pb
