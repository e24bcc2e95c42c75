#include "common/wire/job/assignment_codec.h"

#include <string_view>

#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/secrets_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "proto/assignment.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::AttemptId, AttemptId);
LOCKSTEP_TABLE_CODEC(lockstep::Allotment, Allotment);
LOCKSTEP_TABLE_CODEC(lockstep::GangMember, GangMember);
LOCKSTEP_TABLE_CODEC(lockstep::GangTable, GangTable);
LOCKSTEP_TABLE_CODEC(lockstep::GangShare, GangShare);
LOCKSTEP_TABLE_CODEC(lockstep::NodeTree, NodeTree);
LOCKSTEP_TABLE_CODEC(lockstep::CheckpointSource, CheckpointSource);
LOCKSTEP_TABLE_CODEC(lockstep::DesiredState, DesiredState);
LOCKSTEP_TABLE_CODEC(lockstep::CollectedOutput, CollectedOutput);
LOCKSTEP_TABLE_CODEC(lockstep::NotKept, NotKept);

void to_wire(const lockstep::Assignment& from, Assignment* to) {
  write_table(from, to);
  if (from.gang) to_wire(*from.gang, to->mutable_gang());
  if (from.secrets) to_wire(*from.secrets, to->mutable_secrets());
}

Status from_wire(const Assignment& from, lockstep::Assignment* to) {
  TRY(read_table(from, to));
  if (from.has_secrets()) TRY(from_wire(from.secrets(), &to->secrets.emplace()));
  const int nodes = to->nodes();
  TRY(read_number(from.node_rank(), 0, nodes - 1, "assignment.node_rank", &to->node_rank));
  if (from.has_gang()) {
    lockstep::GangTable gang;
    TRY(from_wire(from.gang(), &gang));
    if (gang.members.size() != static_cast<std::size_t>(nodes))
      return bad_field("assignment.gang", "does not have one member for each node of the job");
    to->gang = std::move(gang);
  }
  if (!to->share) return {};
  const std::string_view fault = fault_of(*to->share, to->node_rank, nodes);
  if (!fault.empty()) return bad_field("assignment.share", fault);
  return {};
}

void to_wire(const lockstep::PartReport& from, PartReport* to) {
  write_table(from, to);
  write_found(from.found, to->mutable_found());
}

Status from_wire(const PartReport& from, lockstep::PartReport* to) {
  TRY(read_table(from, to));
  return read_found(from.found(), &to->found);
}

}  // namespace lockstep::pb
