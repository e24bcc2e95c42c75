#pragma once
// Questions about quotas and what is taken of them, answered from the core's pictures.

#include "common/domain/client_messages.h"
#include "launcher/core/authority.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// QuotasReply; Refused: the holder is not there, or is not the caller's to see. Everybody sees
// their own and those of projects in which they have a role.
ClientReply list_quotas(const Core& core, const Caller& caller, const ListQuotas& question);

}  // namespace lockstep::launcher
