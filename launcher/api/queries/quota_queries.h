#pragma once
// Questions about quotas and their use, answered from the core's views.

#include "common/domain/messages/client_protocol.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// QuotasReply. Refused if there is no such holder, or the caller may not see its quota: everybody
// sees their own and those of projects in which they have a role; an admin sees all.
ClientReply list_quotas(const Core& core, const Caller& caller, const ListQuotas& question);

}  // namespace lockstep::launcher
