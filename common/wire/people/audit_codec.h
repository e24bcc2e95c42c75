#pragma once
// Requests and replies about the audit log on the wire: see proto/audit.proto and fields.h.

#include "common/domain/people/audit.h"
#include "common/wire/fields.h"
#include "proto/audit.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::AuditEntry, AuditEntry);
LOCKSTEP_CODEC(lockstep::QueryAudit, QueryAudit);
LOCKSTEP_CODEC(lockstep::VerifyAudit, VerifyAudit);
LOCKSTEP_CODEC(lockstep::AuditReply, AuditReply);
LOCKSTEP_CODEC(lockstep::AuditVerified, AuditVerified);

}  // namespace lockstep::pb
