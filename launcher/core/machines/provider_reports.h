#pragma once
// Takes what the calls of providers report about machines. A provider is trusted only about the
// machines of its call. docs/decisions/038-providers.md, 039-machines.md.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const ProviderTokensInput& input);
void react(Context& core, const ProviderEventInput& input);
void react(Context& core, const ProviderEndedInput& input);
void react(Context& core, const ProviderNoticeInput& input);

}  // namespace lockstep::launcher
