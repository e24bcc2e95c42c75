#include "common/wire/data/name_codec.h"

#include "common/wire/table_codec.h"
#include "proto/name.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::NameGrants, NameGrants);
LOCKSTEP_TABLE_CODEC(lockstep::ShareName, ShareName);
LOCKSTEP_TABLE_CODEC(lockstep::DeleteVersions, DeleteVersions);
LOCKSTEP_TABLE_CODEC(lockstep::AnnotateVersion, AnnotateVersion);

}  // namespace lockstep::pb
