#pragma once
// Whether the audit log is the chain that was written: nothing in it changed, removed, added or
// moved. It only reads, so that a worker can do it while the log is written to.

#include <string>

#include "common/base/result.h"
#include "common/domain/audit.h"

namespace lockstep::launcher {

// `newest`: the writer's newest entry; later ones are not checked. Number 0: nobody writes; all
// entries are checked, and the log's own head must exist. `mark`: an entry that it must have;
// number 0: none. What is wrong is in `problem`, the first one; an error: it cannot be read.
Result<AuditVerified> verify_audit(const std::string& folder, const AuditMark& newest,
                                   const AuditMark& mark);

}  // namespace lockstep::launcher
