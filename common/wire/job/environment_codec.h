#pragma once
// Environments on the wire: see proto/environment.proto and fields.h.

#include "common/domain/environment/definition.h"
#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/control.pb.h"
#include "proto/environment.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::EnvironmentSpec, EnvironmentSpec);
LOCKSTEP_CODEC(lockstep::RegisteredEnvironment, RegisteredEnvironment);
LOCKSTEP_CODEC(lockstep::EnvironmentLock, EnvironmentLock);
LOCKSTEP_CODEC(lockstep::EnvironmentPlan, EnvironmentPlan);
LOCKSTEP_CODEC(lockstep::EnvironmentReport, EnvironmentReport);
LOCKSTEP_CODEC(lockstep::Activation, Activation);

LOCKSTEP_CODEC(lockstep::EnvironmentView, EnvironmentView);
LOCKSTEP_CODEC(lockstep::CreateEnvironment, CreateEnvironment);
LOCKSTEP_CODEC(lockstep::ShowEnvironment, ShowEnvironment);
LOCKSTEP_CODEC(lockstep::ListEnvironments, ListEnvironments);
LOCKSTEP_CODEC(lockstep::ArchiveEnvironment, ArchiveEnvironment);
LOCKSTEP_CODEC(lockstep::PruneEnvironments, PruneEnvironments);
LOCKSTEP_CODEC(lockstep::EnvironmentReply, EnvironmentReply);
LOCKSTEP_CODEC(lockstep::EnvironmentsReply, EnvironmentsReply);

}  // namespace lockstep::pb
