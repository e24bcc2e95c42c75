#pragma once
// Quotas, to and from proto/quota.proto. See fields.h.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/quota.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::QuotaHolder, QuotaHolder);
LOCKSTEP_CODEC(lockstep::SetQuota, SetQuota);
LOCKSTEP_CODEC(lockstep::QuotaView, QuotaView);
LOCKSTEP_CODEC(lockstep::ListQuotas, ListQuotas);
LOCKSTEP_CODEC(lockstep::QuotasReply, QuotasReply);

}  // namespace lockstep::pb
