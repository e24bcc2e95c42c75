#pragma once
// Compute targets on the wire. Journals also use the encoding of ComputeSpec.

#include "common/domain/targets/compute.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::ComputeSpec, ComputeSpec);
LOCKSTEP_CODEC(lockstep::SshHost, SshHost);
LOCKSTEP_CODEC(lockstep::CreateCompute, CreateCompute);
LOCKSTEP_CODEC(lockstep::UpdateCompute, UpdateCompute);
LOCKSTEP_CODEC(lockstep::AttachHosts, AttachHosts);
LOCKSTEP_CODEC(lockstep::DetachHosts, DetachHosts);
LOCKSTEP_CODEC(lockstep::DeleteCompute, DeleteCompute);
LOCKSTEP_CODEC(lockstep::StartCompute, StartCompute);
LOCKSTEP_CODEC(lockstep::StopCompute, StopCompute);
LOCKSTEP_CODEC(lockstep::RestartCompute, RestartCompute);
LOCKSTEP_CODEC(lockstep::ListComputes, ListComputes);
LOCKSTEP_CODEC(lockstep::ComputesReply, ComputesReply);
LOCKSTEP_CODEC(lockstep::ReadComputeLog, ReadComputeLog);
LOCKSTEP_CODEC(lockstep::ComputeLogReply, ComputeLogReply);

}  // namespace lockstep::pb
