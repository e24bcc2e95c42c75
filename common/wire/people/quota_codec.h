#pragma once
// Quotas, to and from proto/quota.proto. See fields.h.

#include "common/domain/messages/client_protocol.h"
#include "common/wire/fields.h"
#include "proto/quota.pb.h"

namespace lockstep::pb {

int number_of(QuotaLimit limit);
Status read_limit(int number, const char* field, QuotaLimit* out);

void to_wire(const lockstep::QuotaHolder& from, QuotaHolder* to);
Status from_wire(const QuotaHolder& from, lockstep::QuotaHolder* to);
void to_wire(const lockstep::SetQuota& from, SetQuota* to);
Status from_wire(const SetQuota& from, lockstep::SetQuota* to);
void to_wire(const lockstep::QuotaView& from, QuotaView* to);
Status from_wire(const QuotaView& from, lockstep::QuotaView* to);
void to_wire(const lockstep::ListQuotas& from, ListQuotas* to);
Status from_wire(const ListQuotas& from, lockstep::ListQuotas* to);
void to_wire(const lockstep::QuotasReply& from, QuotasReply* to);
Status from_wire(const QuotasReply& from, lockstep::QuotasReply* to);

}  // namespace lockstep::pb
