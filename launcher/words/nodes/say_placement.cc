#include "launcher/words/nodes/say_placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/time.h"
#include "common/domain/targets/node_labels.h"
#include "launcher/words/counted_noun.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

std::string devices(int count, std::string_view noun) {
  return counted(static_cast<std::size_t>(std::max(count, 0)), noun);
}

std::string in_brackets(const std::vector<NodePassedOver>& nodes) {
  std::vector<std::string> texts;
  for (const NodePassedOver& node : nodes) texts.push_back(say(node));
  return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, "; "));
}

std::string stage_of(const MachineWithoutNode& machine) {
  switch (machine.stage) {
    case MachineStage::being_made: return machine.machine + " is being made";
    case MachineStage::being_removed: return machine.machine + " is being removed";
    case MachineStage::failed:
      return fmt::format("{} failed ({}: {})", machine.machine, machine.step, text_of(machine.why));
  }
  return "";
}

std::string list_of(const MachinesWithoutNode& machines) {
  std::vector<std::string> texts;
  for (const MachineWithoutNode& machine : machines.first) texts.push_back(stage_of(machine));
  if (machines.more != 0) texts.push_back(fmt::format("and {} more", machines.more));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string_view together_in(Together together) {
  switch (together) {
    case Together::anywhere: return "";
    case Together::network: return " together, in one network,";
    case Together::fabric: return " together, in one RDMA fabric,";
  }
  return "";
}

std::string_view state_of(TargetIs is) {
  switch (is) {
    case TargetIs::free: return "free now";
    case TargetIs::busy: return "busy now";
    case TargetIs::not_made: return "its machines would have to be made";
  }
  return "";
}

std::string state_of(const TargetThatFits& target) {
  return target.price == 0 ? std::string(state_of(target.is))
                           : fmt::format("{}, {:g} an hour", state_of(target.is), target.price);
}

}  // namespace

std::string labels_of(const std::vector<LabelAsked>& labels) {
  NodeLabels map;
  for (const LabelAsked& label : labels) map[label.key] = label.value;
  return labels_text(map);
}

std::string describe(const NodesAsked& asked) {
  std::vector<std::string> parts;
  if (asked.cpus) parts.push_back(devices(*asked.cpus, "cpu"));
  if (asked.memory) parts.push_back(fmt::format("{} memory", to_string(*asked.memory)));
  if (asked.gpus) parts.push_back(devices(*asked.gpus, "gpu"));
  if (asked.rdma && asked.nodes == 1) parts.emplace_back("RDMA");
  if (!asked.labels.empty()) parts.push_back("label " + labels_of(asked.labels));
  std::string text = fmt::format("{} {}{}", asked.nodes, asked.isolated ? "isolated " : "",
                                 asked.nodes == 1 ? "node" : "nodes");
  if (!asked.names.empty())
    text += fmt::format(" of {}{}", fmt::join(asked.names, ", "), asked.more_names ? ", …" : "");
  if (!parts.empty()) text += fmt::format(" with {}", fmt::join(parts, ", "));
  if (!parts.empty() && asked.nodes > 1) text += " each";
  if (asked.rdma && asked.nodes > 1) text += ", in one RDMA fabric";
  return text;
}

std::string say(const NodePassedOver& reason) { return reason.node + " " + text_of(reason.why); }

std::string say(const NodeSkipped& reason) {
  return fmt::format("skipped: {} {}", reason.node, text_of(reason.why));
}

std::string say(const NodeCouldRun& reason) {
  const char* const rdma = !reason.rdma ? "" : *reason.rdma ? ", with RDMA" : ", but without RDMA";
  return fmt::format("{} could run the job now{}", reason.node, rdma);
}

std::string say(const MoreNodes& reason) {
  return fmt::format("… and {} more nodes", reason.nodes);
}

std::string say(const PlacedOnNode& reason) {
  return fmt::format("node rank {}: {} ({} cpus, {} memory, {} gpus){}", reason.node_rank,
                     reason.node, reason.cpus, to_string(reason.memory), reason.gpus,
                     reason.as_before ? ", as in the previous attempt" : "");
}

std::string say(const WaitsForNodes& reason) {
  return fmt::format("waits for {}: {} of them {} free now{}", describe(reason.asked), reason.free,
                     reason.free == 1 ? "is" : "are", in_brackets(reason.passed_over));
}

std::string say(const InstanceIsStopped& reason) {
  std::string text =
      fmt::format("the compute instance is stopped ({}); `lockstep compute start {}` starts it",
                  text_of(reason.why), reason.target);
  if (reason.starts)
    text += fmt::format("; its schedule does so at {} {}", reason.starts->local_time,
                        reason.starts->time_zone);
  return text;
}

std::string say(const NodesWereRemoved& reason) {
  return fmt::format(
      "needs {}, but target '{}' has no node {} any more; the job goes on if {} back, or cancel it "
      "and name other nodes",
      describe(reason.asked), reason.target, fmt::join(reason.nodes, ", "),
      reason.nodes.size() == 1 ? "it comes" : "they come");
}

std::string say(const TargetHasNoNodesYet& reason) {
  return fmt::format("needs {}; target '{}' has no nodes yet: {}", describe(reason.asked),
                     reason.target, list_of(reason.machines));
}

std::string say(const TargetHasNoNodes& reason) {
  return fmt::format(
      "needs {}, but target '{}' has no nodes; `lockstep node token --compute {}` makes a token "
      "with which nodes join it",
      describe(reason.asked), reason.target, reason.target);
}

std::string say(const NoMachineGivesThat& reason) {
  const std::string why = reason.account.empty()
                              ? ""
                              : fmt::format(": the last ones cannot run jobs as {} ({})",
                                            reason.account, text_of(reason.why));
  return fmt::format(
      "needs {}, and no machine of target '{}' could give that{}; `lockstep compute show {}` shows "
      "what its machines are",
      describe(reason.asked), reason.target, why, reason.target);
}

std::string say(const JobOutlivesMachines& reason) {
  std::string text = fmt::format(
      "the job may run for {} (limits.timeout), and a machine of target '{}' ends after {}; give "
      "the job a shorter limit (--timeout; limits.timeout in a job file), or the machines more "
      "time",
      format_duration(reason.timeout), reason.target, format_duration(reason.lifetime));
  if (!reason.setting.empty())
    text += fmt::format(" with `lockstep compute update {} --set {}={}`", reason.target,
                        reason.setting, reason.in_seconds ? "SECONDS" : "TIME");
  return text;
}

std::string say(const TooFewNodesFit& reason) {
  std::string text =
      fmt::format("needs {}, but {} of the {} nodes of target '{}'{} can take it{}",
                  describe(reason.asked), reason.fitting, reason.nodes, reason.target,
                  together_in(reason.together), in_brackets(reason.passed_over));
  if (const std::string machines = list_of(reason.machines); !machines.empty())
    text += "; " + machines;
  if (!reason.account.empty())
    text += fmt::format(
        "; create the account {} on a node and restart that node's lockstep-agent, or cancel the "
        "job",
        reason.account);
  return text;
}

std::string say(const TargetWasChosen& reason) {
  std::string text =
      fmt::format("target {} was chosen: {}", reason.chosen.target, state_of(reason.chosen));
  std::vector<std::string> others;
  for (const TargetThatFits& other : reason.others)
    others.push_back(fmt::format("{} ({})", other.target, state_of(other)));
  if (!others.empty()) text += fmt::format("; others that fit: {}", fmt::join(others, ", "));
  return text;
}

std::string say(const InstanceTypeNotUsed& reason) {
  if (reason.size.empty())
    return fmt::format("resources.instance_type {} is not used: target {} has no size",
                       reason.instance_type, reason.target);
  return fmt::format(
      "resources.instance_type {} is not used: the nodes of target {} are of size {}",
      reason.instance_type, reason.target, reason.size);
}

}  // namespace lockstep::words
