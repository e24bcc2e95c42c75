// The tables of nodes, their fabric, sizes, and compute targets.

#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/targets/schedule_codec.h"
#include "common/wire/targets/size_codec.h"
#include "proto/compute.access.h"
#include "proto/fabric.access.h"
#include "proto/node.access.h"
#include "proto/size.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(TargetsTables, Nodes) {
  check_table<pb::GpuDevice, GpuDevice>();
  check_table<pb::NetworkInterface, NetworkInterface>();
  check_table<pb::RdmaPort, RdmaPort>();
  check_table<pb::LimitCaps, LimitCaps>();
  check_table<pb::Inventory, Inventory>();
  check_table<pb::NodeEvent, NodeEvent>();
}

TEST(TargetsTables, Fabric) {
  check_table<pb::FabricAddress, FabricAddress>();
  check_table<pb::FabricInterface, FabricInterface>();
  check_table<pb::FabricGid, FabricGid>();
  check_table<pb::FabricPort, FabricPort>();
  check_table<pb::FabricGpu, FabricGpu>();
  check_table<pb::FabricNuma, FabricNuma>();
  check_table<pb::NodeFabric, NodeFabric>();
  check_table<pb::GangFabric, GangFabric>();
  check_table<pb::PathFailure, PathFailure>();
  check_table<pb::ChosenPath, ChosenPath>();
  check_table<pb::ProbeResult, ProbeResult>();
}

TEST(TargetsTables, NetworkSettings) {
  check_table<pb::NetworkSetting, NetworkSetting>();
  check_table<pb::SettingOverride, SettingOverride>();
  check_table<pb::OperatorVariable, OperatorVariable>();
  check_table<pb::OperatorInterface, OperatorInterface>();
  check_table<pb::OperatorRdma, OperatorRdma>();
  check_table<pb::OperatorSettings, OperatorSettings>();
}

TEST(TargetsTables, Sizes) {
  check_table<pb::SizeSeries, SizeSeries>();
  check_table<pb::Size, Size>();
  check_table<pb::SizeView, SizeView>();
  check_table<pb::DefineSizes, DefineSizes>();
  check_table<pb::RemoveSize, RemoveSize>();
  check_table<pb::GrantSize, GrantSize>();
  check_table<pb::ListSizes, ListSizes>();
  check_table<pb::SizesReply, SizesReply>();
}

TEST(TargetsTables, Computes) {
  check_table<pb::SshHost, SshHost>();
  check_table<pb::Scale, Scale>();
  check_table<pb::ComputeSpec, ComputeSpec>();
  check_table<pb::MachineView, MachineView>();
  check_table<pb::ComputeEvent, ComputeEvent>();
  check_table<pb::ScalingView, ScalingView>();
  check_table<pb::ComputeNodes, ComputeView::Nodes>();
  check_table<pb::ComputeView, ComputeView>();
  check_table<pb::CreateCompute, CreateCompute>();
  check_table<pb::UpdateCompute, UpdateCompute>();
  check_table<pb::AttachHosts, AttachHosts>();
  check_table<pb::DetachHosts, DetachHosts>();
  check_table<pb::DeleteCompute, DeleteCompute>();
  check_table<pb::StartCompute, StartCompute>();
  check_table<pb::StopCompute, StopCompute>();
  check_table<pb::RestartCompute, RestartCompute>();
  check_table<pb::ListComputes, ListComputes>();
  check_table<pb::ComputesReply, ComputesReply>();
  check_table<pb::ReadComputeLog, ReadComputeLog>();
  check_table<pb::ComputeLogReply, ComputeLogReply>();
}

TEST(TargetsTables, Instances) {
  check_table<pb::Recurrence, Recurrence>();
  check_table<pb::InstanceSchedule, InstanceSchedule>();
  check_table<pb::InstanceView, InstanceView>();
}

}  // namespace
}  // namespace lockstep::test
