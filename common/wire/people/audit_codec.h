#pragma once
// Requests and replies about the audit log on the wire: see proto/audit.proto and fields.h.

#include "common/domain/people/audit.h"
#include "common/wire/fields.h"
#include "proto/audit.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::AuditEntry& from, AuditEntry* to);
Status from_wire(const AuditEntry& from, lockstep::AuditEntry* to);
void to_wire(const lockstep::QueryAudit& from, QueryAudit* to);
Status from_wire(const QueryAudit& from, lockstep::QueryAudit* to);
void to_wire(const lockstep::VerifyAudit& from, VerifyAudit* to);
Status from_wire(const VerifyAudit& from, lockstep::VerifyAudit* to);
void to_wire(const lockstep::AuditReply& from, AuditReply* to);
Status from_wire(const AuditReply& from, lockstep::AuditReply* to);
void to_wire(const lockstep::AuditVerified& from, AuditVerified* to);
Status from_wire(const AuditVerified& from, lockstep::AuditVerified* to);

}  // namespace lockstep::pb
