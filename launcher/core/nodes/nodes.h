#pragma once
// Reactions to requests about nodes: join tokens, joins, approval, draining and removal.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const DrainInput& input);
void react(Context& core, const ApproveNodeInput& input);
void react(Context& core, const LabelInput& input);
void react(Context& core, const RemoveNodeInput& input);
void react(Context& core, const TokenInput& input);
void react(Context& core, const RevokeTokenInput& input);
void react(Context& core, const JoinInput& input);

// Gives up every part of the node. Its running parts count as lost, and the retry is not charged.
void give_up_parts(Context& core, const Node& node, const Why& why);

// Gives up its parts, removes the node and revokes its key. `by` becomes NodeRemoved::by.
void remove_node(Context& core, NodeId node, const Why& why, const std::string& by);

}  // namespace lockstep::launcher
