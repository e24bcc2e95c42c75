#pragma once
// Reads a node's answer to the question for the stacks of its ranks, and groups them. Pure.

#include "launcher/cli/attach/short_attachments.h"
#include "launcher/cli/attach/stack_groups.h"

namespace lockstep::cli {

// Adds the ranks of a node. Ranks without an answer are unread, with the node's reason.
void add_stacks_of(const NodeRanks& node, const AttachAnswer& answer, StackReport* report);

}  // namespace lockstep::cli
