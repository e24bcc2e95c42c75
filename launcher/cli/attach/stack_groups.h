#pragma once
// Ranks that stand at the same places, as groups, with the group that differs first: the smallest.
// Pure.

#include <string>
#include <vector>

#include "launcher/api/json/keys/keys.h"
#include "launcher/cli/attach/stack_dump.h"

namespace lockstep::cli {

struct StackGroup {
  std::vector<int> ranks;               // sorted
  std::string summary;                  // "all_reduce <- step train.py:88 <- main train.py:120"
  std::vector<StackProcess> processes;  // the processes of the first rank; its main one first
};

struct UnreadRanks {
  std::vector<int> ranks;
  std::string node_name;
  std::string reason;
};

struct StackReport {
  std::string job;
  std::uint32_t attempt = 0;
  std::vector<StackGroup> groups;
  std::vector<UnreadRanks> unread;
};

// Adds the stacks of a rank's processes. Ranks are one group if all of their threads stand at the
// same places, whatever the processes' numbers are. A rank none of whose processes could be read is
// unread.
void group_stacks(std::vector<StackProcess> processes, const std::string& node_name,
                  StackReport* report);
// Sorts the smallest group first; equal ones by their lowest rank.
void sort_groups(StackReport* report);

std::string stacks_text(const StackReport& report);
void keys(const StackReport& report, api::See& see);

// The thread's innermost functions; a library's are named without their places, and only the
// innermost of some in a row.
std::string summary_of(const StackThread& thread);

}  // namespace lockstep::cli
