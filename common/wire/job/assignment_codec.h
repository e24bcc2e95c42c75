#pragma once
// Desired and observed state, to and from proto/assignment.proto. See fields.h.

#include "common/domain/messages/assignment.h"
#include "common/wire/fields.h"
#include "proto/assignment.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::AttemptId& from, AttemptId* to);
// The job's name must be valid, because it becomes part of paths. The number must be at least 1.
Status from_wire(const AttemptId& from, lockstep::AttemptId* to);
void to_wire(const lockstep::Allotment& from, Allotment* to);
Status from_wire(const Allotment& from, lockstep::Allotment* to);
void to_wire(const lockstep::GangMember& from, GangMember* to);
Status from_wire(const GangMember& from, lockstep::GangMember* to);
void to_wire(const lockstep::GangTable& from, GangTable* to);
Status from_wire(const GangTable& from, lockstep::GangTable* to);
void to_wire(const lockstep::GangShare& from, GangShare* to);
Status from_wire(const GangShare& from, lockstep::GangShare* to);
void to_wire(const lockstep::NodeTree& from, NodeTree* to);
Status from_wire(const NodeTree& from, lockstep::NodeTree* to);
void to_wire(const lockstep::CheckpointSource& from, CheckpointSource* to);
Status from_wire(const CheckpointSource& from, lockstep::CheckpointSource* to);
void to_wire(const lockstep::Assignment& from, Assignment* to);
Status from_wire(const Assignment& from, lockstep::Assignment* to);
void to_wire(const lockstep::DesiredState& from, DesiredState* to);
Status from_wire(const DesiredState& from, lockstep::DesiredState* to);
void to_wire(const lockstep::PartReport& from, PartReport* to);
Status from_wire(const PartReport& from, lockstep::PartReport* to);
void to_wire(const lockstep::CollectedOutput& from, CollectedOutput* to);
Status from_wire(const CollectedOutput& from, lockstep::CollectedOutput* to);
void to_wire(const lockstep::NotKept& from, NotKept* to);
Status from_wire(const NotKept& from, lockstep::NotKept* to);
PartState wire_part_state(lockstep::PartState state);
Status read_part_state(int value, const char* field, lockstep::PartState* out);
Status read_stop_reason(int value, const char* field, lockstep::StopReason* out);

}  // namespace lockstep::pb
