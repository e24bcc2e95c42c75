#pragma once
// Owners of names and the requests about them.

#include "common/domain/data/shared_name.h"
#include "common/wire/fields.h"
#include "proto/name.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::NameGrants, NameGrants);
LOCKSTEP_CODEC(lockstep::ShareName, ShareName);
LOCKSTEP_CODEC(lockstep::DeleteVersions, DeleteVersions);
LOCKSTEP_CODEC(lockstep::AnnotateVersion, AnnotateVersion);

}  // namespace lockstep::pb
