#pragma once
// Reactions to requests about nodes: join tokens, joins, approval, draining and removal.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const DrainInput& input);
void react(Context& core, const ApproveNodeInput& input);
void react(Context& core, const RemoveNodeInput& input);
void react(Context& core, const TokenInput& input);
void react(Context& core, const JoinInput& input);

}  // namespace lockstep::launcher
