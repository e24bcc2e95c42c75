#pragma once
// Encodes and decodes the messages between agent and runner, the files that they share in the
// attempt directory, and the messages between the runners of a gang. The decoders give the same
// guarantees as the decoders of control.h.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/runners/runner_protocol.h"
#include "common/domain/runners/workspace_plan.h"

namespace lockstep::wire {

inline constexpr std::uint32_t kRunnerVersion = 1;  // the version of all messages and files in this
                                                    // header

std::string encode(const RunnerControl& message);
Result<RunnerControl> decode_runner_control(std::string_view bytes);

std::string encode(const GangMessage& message);
Result<GangMessage> decode_gang(std::string_view bytes);

// Files of the attempt directory: assignment.pb, final_report.pb, workspace.pb, fabric.pb. An
// assignment is written without its secrets and its credential.
std::string encode(const Assignment& assignment);
Result<Assignment> decode_assignment(std::string_view bytes);
std::string encode(const NodeExitReport& report);
Result<NodeExitReport> decode_exit_report(std::string_view bytes);
std::string encode(const WorkspacePlan& plan);
Result<WorkspacePlan> decode_workspace_plan(std::string_view bytes);
std::string encode(const NodeFabric& fabric);
Result<NodeFabric> decode_node_fabric(std::string_view bytes);

}  // namespace lockstep::wire
