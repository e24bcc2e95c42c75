#pragma once
// Entries of the audit log that somebody asks for, newest first in pages, oldest first in a page.
// It only reads, so that a worker can do it while the log is written to.

#include "common/base/result.h"
#include "common/domain/audit.h"

namespace lockstep::launcher {

// Does this entry say what `query` names did, or what was done to it?
bool is_wanted(const AuditEntry& entry, const QueryAudit& query);

// Reads a bounded part of the log: an answer may be empty and still name what to ask for next.
Result<AuditReply> audit_page(const std::string& folder, const QueryAudit& query);

}  // namespace lockstep::launcher
