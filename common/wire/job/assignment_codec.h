#pragma once
// Desired and observed state, to and from proto/assignment.proto. See fields.h.

#include "common/domain/runners/assignment.h"
#include "common/wire/fields.h"
#include "proto/assignment.pb.h"

namespace lockstep::pb {

// The job's name must be valid, because it becomes part of paths. The number must be at least 1.
LOCKSTEP_CODEC(lockstep::AttemptId, AttemptId);
LOCKSTEP_CODEC(lockstep::Allotment, Allotment);
LOCKSTEP_CODEC(lockstep::GangMember, GangMember);
LOCKSTEP_CODEC(lockstep::GangTable, GangTable);
LOCKSTEP_CODEC(lockstep::GangShare, GangShare);
LOCKSTEP_CODEC(lockstep::NodeTree, NodeTree);
LOCKSTEP_CODEC(lockstep::CheckpointSource, CheckpointSource);
LOCKSTEP_CODEC(lockstep::Assignment, Assignment);
LOCKSTEP_CODEC(lockstep::DesiredState, DesiredState);
LOCKSTEP_CODEC(lockstep::PartReport, PartReport);
LOCKSTEP_CODEC(lockstep::CollectedOutput, CollectedOutput);
LOCKSTEP_CODEC(lockstep::NotKept, NotKept);

}  // namespace lockstep::pb
