#pragma once
// Compute targets on the wire. Journals also use the encoding of ComputeSpec.

#include "common/domain/targets/compute.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::ComputeSpec& from, ComputeSpec* to);
Status from_wire(const ComputeSpec& from, lockstep::ComputeSpec* to);
void to_wire(const lockstep::SshHost& from, SshHost* to);
Status from_wire(const SshHost& from, lockstep::SshHost* to);
void to_wire(const lockstep::MachineView& from, MachineView* to);
Status from_wire(const MachineView& from, lockstep::MachineView* to);
void to_wire(const lockstep::ComputeEvent& from, ComputeEvent* to);
Status from_wire(const ComputeEvent& from, lockstep::ComputeEvent* to);
void to_wire(const lockstep::ComputeView& from, ComputeView* to);
Status from_wire(const ComputeView& from, lockstep::ComputeView* to);

void to_wire(const lockstep::CreateCompute& from, CreateCompute* to);
Status from_wire(const CreateCompute& from, lockstep::CreateCompute* to);
void to_wire(const lockstep::UpdateCompute& from, UpdateCompute* to);
Status from_wire(const UpdateCompute& from, lockstep::UpdateCompute* to);
void to_wire(const lockstep::AttachHosts& from, AttachHosts* to);
Status from_wire(const AttachHosts& from, lockstep::AttachHosts* to);
void to_wire(const lockstep::DetachHosts& from, DetachHosts* to);
Status from_wire(const DetachHosts& from, lockstep::DetachHosts* to);
void to_wire(const lockstep::DeleteCompute& from, DeleteCompute* to);
Status from_wire(const DeleteCompute& from, lockstep::DeleteCompute* to);
void to_wire(const lockstep::StartCompute& from, StartCompute* to);
Status from_wire(const StartCompute& from, lockstep::StartCompute* to);
void to_wire(const lockstep::StopCompute& from, StopCompute* to);
Status from_wire(const StopCompute& from, lockstep::StopCompute* to);
void to_wire(const lockstep::RestartCompute& from, RestartCompute* to);
Status from_wire(const RestartCompute& from, lockstep::RestartCompute* to);
void to_wire(const lockstep::ListComputes& from, ListComputes* to);
Status from_wire(const ListComputes& from, lockstep::ListComputes* to);
void to_wire(const lockstep::ComputesReply& from, ComputesReply* to);
Status from_wire(const ComputesReply& from, lockstep::ComputesReply* to);
void to_wire(const lockstep::ReadComputeLog& from, ReadComputeLog* to);
Status from_wire(const ReadComputeLog& from, lockstep::ReadComputeLog* to);
void to_wire(const lockstep::ComputeLogReply& from, ComputeLogReply* to);
Status from_wire(const ComputeLogReply& from, lockstep::ComputeLogReply* to);

}  // namespace lockstep::pb
