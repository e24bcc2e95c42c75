#include "common/wire/people/audit_codec.h"

#include "common/wire/table_codec.h"
#include "proto/audit.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::AuditEntry, AuditEntry);
LOCKSTEP_TABLE_CODEC(lockstep::QueryAudit, QueryAudit);
LOCKSTEP_TABLE_CODEC(lockstep::VerifyAudit, VerifyAudit);
LOCKSTEP_TABLE_CODEC(lockstep::AuditReply, AuditReply);
LOCKSTEP_TABLE_CODEC(lockstep::AuditVerified, AuditVerified);

}  // namespace lockstep::pb
