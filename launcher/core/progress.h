#pragma once
// The rules that take a job from placed to final. They depend on the state alone, and run for every
// job that changed.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void advance(Context& core, const JobId& job);

void react(Context& core, const LogsDurableInput& input);
void react(Context& core, const LogsGrewInput& input);
void react(Context& core, const LogsRefusedInput& input);
void react(Context& core, const OutputsRefusedInput& input);
void react(Context& core, const RanksSignaledInput& input);
void prepare_timed_out(Context& core, const AttemptId& attempt);
void logs_timed_out(Context& core, const AttemptId& attempt, NodeId node);

}  // namespace lockstep::launcher
