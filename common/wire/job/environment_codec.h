#pragma once
// Environments on the wire: see proto/environment.proto and fields.h.

#include "common/domain/environment/definition.h"
#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/control.pb.h"
#include "proto/environment.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::EnvironmentSpec& from, EnvironmentSpec* to);
Status from_wire(const EnvironmentSpec& from, lockstep::EnvironmentSpec* to);
void to_wire(const lockstep::RegisteredEnvironment& from, RegisteredEnvironment* to);
Status from_wire(const RegisteredEnvironment& from, lockstep::RegisteredEnvironment* to);
void to_wire(const lockstep::EnvironmentLock& from, EnvironmentLock* to);
Status from_wire(const EnvironmentLock& from, lockstep::EnvironmentLock* to);
void to_wire(const lockstep::EnvironmentPlan& from, EnvironmentPlan* to);
Status from_wire(const EnvironmentPlan& from, lockstep::EnvironmentPlan* to);
void to_wire(const lockstep::EnvironmentReport& from, EnvironmentReport* to);
Status from_wire(const EnvironmentReport& from, lockstep::EnvironmentReport* to);
void to_wire(const lockstep::Activation& from, Activation* to);
Status from_wire(const Activation& from, lockstep::Activation* to);

void to_wire(const lockstep::EnvironmentView& from, EnvironmentView* to);
Status from_wire(const EnvironmentView& from, lockstep::EnvironmentView* to);
void to_wire(const lockstep::CreateEnvironment& from, CreateEnvironment* to);
Status from_wire(const CreateEnvironment& from, lockstep::CreateEnvironment* to);
void to_wire(const lockstep::ShowEnvironment& from, ShowEnvironment* to);
Status from_wire(const ShowEnvironment& from, lockstep::ShowEnvironment* to);
void to_wire(const lockstep::ListEnvironments& from, ListEnvironments* to);
Status from_wire(const ListEnvironments& from, lockstep::ListEnvironments* to);
void to_wire(const lockstep::ArchiveEnvironment& from, ArchiveEnvironment* to);
Status from_wire(const ArchiveEnvironment& from, lockstep::ArchiveEnvironment* to);
void to_wire(const lockstep::PruneEnvironments& from, PruneEnvironments* to);
Status from_wire(const PruneEnvironments& from, lockstep::PruneEnvironments* to);
void to_wire(const lockstep::EnvironmentReply& from, EnvironmentReply* to);
Status from_wire(const EnvironmentReply& from, lockstep::EnvironmentReply* to);
void to_wire(const lockstep::EnvironmentsReply& from, EnvironmentsReply* to);
Status from_wire(const EnvironmentsReply& from, lockstep::EnvironmentsReply* to);

}  // namespace lockstep::pb
