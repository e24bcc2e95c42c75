#pragma once
// Reads pages of the audit log for a query. The first page has the newest entries; within a page
// the oldest come first. It only reads, so a worker can run it while the log is being written.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/people/audit.h"

namespace lockstep::launcher {

// The user of this name whom the entry concerns or who caused it: "ann", or "ann~2", who was added
// after the first one was removed. "": none. A name with a number is that user alone.
std::string user_in(const AuditEntry& entry, std::string_view name);

// Whether the query's user or node caused the entry, or is its object.
bool is_wanted(const AuditEntry& entry, const QueryAudit& query);

// Reads a bounded part of the log, so an answer may be empty although older entries match; its
// `before` then says where to go on.
Result<AuditReply> audit_page(const std::string& folder, const QueryAudit& query);

}  // namespace lockstep::launcher
