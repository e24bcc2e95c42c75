#include "launcher/cli/attach/stack_answers.h"

#include <algorithm>

namespace lockstep::cli {

namespace {

std::vector<StackProcess> processes_in(std::string_view lines, std::string* problem) {
  std::vector<StackProcess> processes;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    if (const auto process = stack_process_from(lines.substr(0, end)))
      processes.push_back(*process);
    else
      *problem = process.error().message;
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
  }
  return processes;
}

}  // namespace

void add_stacks_of(const NodeRanks& node, const AttachAnswer& answer, StackReport* report) {
  std::string problem = answer.error           ? answer.error->message
                        : answer.end.code != 0 ? answer.end.message
                                               : "";
  auto processes = processes_in(answer.output, &problem);
  std::erase_if(processes, [&](const StackProcess& process) {
    return std::find(node.ranks.begin(), node.ranks.end(), process.rank) == node.ranks.end();
  });
  std::vector<int> silent;
  for (const int rank : node.ranks)
    if (std::none_of(processes.begin(), processes.end(),
                     [&](const StackProcess& process) { return process.rank == rank; }))
      silent.push_back(rank);
  group_stacks(std::move(processes), node.node_name, report);
  if (silent.empty()) return;
  report->unread.push_back(
      {silent, node.node_name, problem.empty() ? "it has no process any more" : problem});
}

}  // namespace lockstep::cli
