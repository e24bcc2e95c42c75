#pragma once
// The resources that nodes, jobs and ranks use, as tables for people. Pure. A value that is too old
// is marked with its age.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

enum class UsageOrder { cpu, memory, gpu, network, name };
std::optional<UsageOrder> usage_order_from(std::string_view word);

// Sorts by the highest use first, or by name. Unknown use comes last.
void sort_usage(UsageOrder order, std::vector<NodeUsage>* nodes, std::vector<JobUsage>* jobs);

// `columns`: the width of the terminal; nullopt: none.
std::string node_usage_table(const std::vector<NodeUsage>& nodes,
                             std::optional<std::size_t> columns);
// The table of jobs. A job on several nodes has a row of its sums, and then one for each node.
std::string job_usage_table(const std::vector<JobUsage>& jobs, std::optional<std::size_t> columns);

// The lines for `node show`: "3.20 of 8 cpus now, …".
struct NodeUseLines {
  std::string cpu, memory, disk, network, age;
  std::vector<std::string> gpus;
};
NodeUseLines node_use_lines(const NodeView& node);

// The lines for `job show`: one for each rank of the part, indented; "" if nothing is known.
std::string rank_use_lines(const PartView& part);

// "silent for 12m: its ranks have written nothing and used no cpu"; "" if it is not silent.
std::string silence_text(Duration silent);

}  // namespace lockstep::cli
