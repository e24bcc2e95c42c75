#include "common/wire/runners/runner_codec.h"

#include "common/wire/body_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "proto/runner.access.h"

namespace lockstep::wire {

namespace {

template <typename Wire>
Status open(std::string_view bytes, const char* what, Wire* wire) {
  TRY(pb::parse(bytes, kMaxRunnerFrameBytes, what, wire));
  return pb::check_version(wire->version(), kRunnerVersion, what);
}

}  // namespace

std::string encode(const RunnerControl& message) {
  pb::RunnerControl wire;
  wire.set_version(kRunnerVersion);
  pb::write_body(message, &wire);
  return pb::serialize(wire);
}

Result<RunnerControl> decode_runner_control(std::string_view bytes) {
  pb::RunnerControl wire;
  TRY(open(bytes, "runner message", &wire));
  RunnerControl message;
  TRY(pb::read_body(wire, &message));
  return message;
}

std::string encode(const Assignment& assignment) {
  pb::StoredAssignment wire;
  wire.set_version(kRunnerVersion);
  pb::to_wire(assignment, wire.mutable_assignment());
  wire.mutable_assignment()->clear_secrets();
  wire.mutable_assignment()->clear_credential();
  return pb::serialize(wire);
}

Result<Assignment> decode_assignment(std::string_view bytes) {
  pb::StoredAssignment wire;
  TRY(open(bytes, "stored assignment", &wire));
  Assignment assignment;
  TRY(pb::from_wire(wire.assignment(), &assignment));
  return assignment;
}

std::string encode(const NodeExitReport& report) {
  pb::StoredExitReport wire;
  wire.set_version(kRunnerVersion);
  pb::to_wire(report, wire.mutable_report());
  return pb::serialize(wire);
}

Result<NodeExitReport> decode_exit_report(std::string_view bytes) {
  pb::StoredExitReport wire;
  TRY(open(bytes, "final report", &wire));
  NodeExitReport report;
  TRY(pb::from_wire(wire.report(), &report));
  return report;
}

std::string encode(const WorkspacePlan& plan) {
  pb::WorkspacePlan wire;
  wire.set_version(kRunnerVersion);
  pb::to_wire(plan, &wire);
  return pb::serialize(wire);
}

Result<WorkspacePlan> decode_workspace_plan(std::string_view bytes) {
  pb::WorkspacePlan wire;
  TRY(open(bytes, "workspace plan", &wire));
  WorkspacePlan plan;
  TRY(pb::from_wire(wire, &plan));
  return plan;
}

std::string encode(const NodeFabric& fabric) {
  pb::StoredFabric wire;
  wire.set_version(kRunnerVersion);
  pb::to_wire(fabric, wire.mutable_fabric());
  return pb::serialize(wire);
}

Result<NodeFabric> decode_node_fabric(std::string_view bytes) {
  pb::StoredFabric wire;
  TRY(open(bytes, "fabric of the node", &wire));
  NodeFabric fabric;
  TRY(pb::from_wire(wire.fabric(), &fabric));
  return fabric;
}

}  // namespace lockstep::wire
