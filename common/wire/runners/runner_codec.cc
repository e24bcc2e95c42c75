#include "common/wire/runners/runner_codec.h"

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "common/wire/why_codec.h"
#include "proto/runner.pb.h"

namespace lockstep::wire {

namespace {

constexpr std::size_t kMaxRanksOfLogs = 10'000;

static_assert(pb::is_wire_of(WorkspacePlan::Mode::overlay, pb::WORKSPACE_MODE_OVERLAY));
static_assert(pb::is_wire_of(WorkspacePlan::Mode::overlay_userns,
                             pb::WORKSPACE_MODE_OVERLAY_USERNS));
static_assert(pb::is_wire_of(WorkspacePlan::Mode::ready, pb::WORKSPACE_MODE_READY));

template <typename Wire>
Status open(std::string_view bytes, const char* what, Wire* wire) {
  TRY(pb::parse(bytes, kMaxRunnerFrameBytes, what, wire));
  return pb::check_version(wire->version(), kRunnerVersion, what);
}

void write_end(const EndPart& from, pb::EndPart* to) {
  to->set_cause(pb::wire_enum<pb::Cause>(from.cause));
  pb::write_why(from.why, to->mutable_message(), [&] { return to->mutable_why_data(); });
}

}  // namespace

std::string encode(const RunnerControl& message) {
  pb::RunnerControl wire;
  wire.set_version(kRunnerVersion);
  if (const auto* status = std::get_if<RunnerStatus>(&message))
    pb::to_wire(status->report, wire.mutable_status());
  else if (const auto* taken = std::get_if<LogsTaken>(&message))
    pb::write_list(taken->logs, wire.mutable_logs_taken()->mutable_logs());
  else if (const auto* end = std::get_if<EndPart>(&message))
    write_end(*end, wire.mutable_end_part());
  else if (const auto* ranks = std::get_if<RanksUse>(&message))
    pb::to_wire(ranks->use, wire.mutable_ranks_use());
  else if (const auto* attach = std::get_if<AttachFrame>(&message))
    pb::to_wire(*attach, wire.mutable_attach());
  else
    pb::to_wire(std::get<UpdateAssignment>(message).assignment, wire.mutable_update());
  return pb::serialize(wire);
}

Result<RunnerControl> decode_runner_control(std::string_view bytes) {
  pb::RunnerControl wire;
  TRY(open(bytes, "runner message", &wire));
  RunnerControl message;
  switch (wire.body_case()) {
    case pb::RunnerControl::kStatus:
      TRY(pb::from_wire(wire.status(), &message.emplace<RunnerStatus>().report));
      return message;
    case pb::RunnerControl::kUpdate:
      TRY(pb::from_wire(wire.update(), &message.emplace<UpdateAssignment>().assignment));
      return message;
    case pb::RunnerControl::kLogsTaken:
      TRY(pb::read_list(wire.logs_taken().logs(), kMaxRanksOfLogs, "logs_taken.logs",
                        &message.emplace<LogsTaken>().logs));
      return message;
    case pb::RunnerControl::kEndPart: {
      EndPart& end = message.emplace<EndPart>();
      const pb::EndPart& from = wire.end_part();
      TRY(pb::read_word(from.cause(), "end_part.cause", &end.cause));
      TRY(pb::read_why(from.message(), from.has_why_data(), from.why_data(), "end_part.message",
                       &end.why));
      return message;
    }
    case pb::RunnerControl::kRanksUse:
      TRY(pb::from_wire(wire.ranks_use(), &message.emplace<RanksUse>().use));
      return message;
    case pb::RunnerControl::kAttach:
      TRY(pb::from_wire(wire.attach(), &message.emplace<AttachFrame>()));
      return message;
    case pb::RunnerControl::BODY_NOT_SET: break;
  }
  return pb::bad_field("body", "is missing or of a kind that this version does not know");
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
  wire.set_mode(pb::wire_enum<pb::WorkspaceMode>(plan.mode));
  wire.set_tree(plan.tree);
  wire.set_mount_point(plan.mount_point);
  if (plan.restored) pb::to_wire(*plan.restored, wire.mutable_restored());
  if (plan.activation) pb::to_wire(*plan.activation, wire.mutable_activation());
  for (const StagedInput& input : plan.inputs) {
    pb::StagedInput* const to = wire.add_inputs();
    to->set_name(input.name);
    to->set_tree(input.tree);
  }
  for (const PlacedInput& input : plan.placed) {
    pb::PlacedInput* const to = wire.add_placed();
    to->set_name(input.name);
    pb::to_wire(input.place, to->mutable_place());
    to->set_is_writable(input.is_writable);
    to->set_file(input.file);
  }
  return pb::serialize(wire);
}

Result<WorkspacePlan> decode_workspace_plan(std::string_view bytes) {
  pb::WorkspacePlan wire;
  TRY(open(bytes, "workspace plan", &wire));
  WorkspacePlan plan;
  TRY(pb::read_enum(wire.mode(), WorkspacePlan::Mode::ready, "workspace.mode", &plan.mode));
  TRY(pb::read_text(wire.tree(), "workspace.tree", &plan.tree));
  TRY(pb::read_text(wire.mount_point(), "workspace.mount_point", &plan.mount_point));
  if (wire.has_restored()) TRY(pb::from_wire(wire.restored(), &plan.restored.emplace()));
  if (wire.has_activation()) TRY(pb::from_wire(wire.activation(), &plan.activation.emplace()));
  for (const pb::StagedInput& from : wire.inputs()) {
    StagedInput& input = plan.inputs.emplace_back();
    TRY(pb::read_text(from.name(), "workspace.input.name", &input.name));
    TRY(pb::read_text(from.tree(), "workspace.input.tree", &input.tree));
  }
  for (const pb::PlacedInput& from : wire.placed()) {
    PlacedInput& input = plan.placed.emplace_back();
    TRY(pb::read_text(from.name(), "workspace.placed.name", &input.name));
    TRY(pb::from_wire(from.place(), &input.place));
    input.is_writable = from.is_writable();
    TRY(pb::read_text(from.file(), "workspace.placed.file", &input.file));
  }
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
