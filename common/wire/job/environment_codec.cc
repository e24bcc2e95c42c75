#include "common/wire/job/environment_codec.h"

#include "common/wire/data/name_codec.h"
#include "common/wire/table_codec.h"
#include "proto/control.access.h"
#include "proto/environment.access.h"
#include "proto/views.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentSpec, EnvironmentSpec);
LOCKSTEP_TABLE_CODEC(lockstep::RegisteredEnvironment, RegisteredEnvironment);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentLock, EnvironmentLock);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentPlan, EnvironmentPlan);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentReport, EnvironmentReport);
LOCKSTEP_TABLE_CODEC(lockstep::Activation, Activation);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentView, EnvironmentView);
LOCKSTEP_TABLE_CODEC(lockstep::CreateEnvironment, CreateEnvironment);
LOCKSTEP_TABLE_CODEC(lockstep::ShowEnvironment, ShowEnvironment);
LOCKSTEP_TABLE_CODEC(lockstep::ListEnvironments, ListEnvironments);
LOCKSTEP_TABLE_CODEC(lockstep::ArchiveEnvironment, ArchiveEnvironment);
LOCKSTEP_TABLE_CODEC(lockstep::PruneEnvironments, PruneEnvironments);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentReply, EnvironmentReply);
LOCKSTEP_TABLE_CODEC(lockstep::EnvironmentsReply, EnvironmentsReply);

}  // namespace lockstep::pb
