#pragma once
// Questions about quotas and their use, answered from the core's views.

#include "common/domain/messages/client_protocol.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// Answers with QuotasReply. Refused if the holder does not exist, or if the caller may not see its
// quota: everybody sees their own and those of projects in which they have a role; an admin sees
// all.
ClientReply list_quotas(const Core& core, const Caller& caller, const ListQuotas& question);

}  // namespace lockstep::launcher
