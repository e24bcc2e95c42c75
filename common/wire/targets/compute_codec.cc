#include "common/wire/targets/compute_codec.h"

#include "common/wire/table_codec.h"
#include "common/wire/targets/schedule_codec.h"
#include "proto/compute.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::ComputeSpec, ComputeSpec);
LOCKSTEP_TABLE_CODEC(lockstep::SshHost, SshHost);
LOCKSTEP_TABLE_CODEC(lockstep::CreateCompute, CreateCompute);
LOCKSTEP_TABLE_CODEC(lockstep::UpdateCompute, UpdateCompute);
LOCKSTEP_TABLE_CODEC(lockstep::AttachHosts, AttachHosts);
LOCKSTEP_TABLE_CODEC(lockstep::DetachHosts, DetachHosts);
LOCKSTEP_TABLE_CODEC(lockstep::DeleteCompute, DeleteCompute);
LOCKSTEP_TABLE_CODEC(lockstep::StartCompute, StartCompute);
LOCKSTEP_TABLE_CODEC(lockstep::StopCompute, StopCompute);
LOCKSTEP_TABLE_CODEC(lockstep::RestartCompute, RestartCompute);
LOCKSTEP_TABLE_CODEC(lockstep::ListComputes, ListComputes);
LOCKSTEP_TABLE_CODEC(lockstep::ComputesReply, ComputesReply);
LOCKSTEP_TABLE_CODEC(lockstep::ReadComputeLog, ReadComputeLog);
LOCKSTEP_TABLE_CODEC(lockstep::ComputeLogReply, ComputeLogReply);

}  // namespace lockstep::pb
