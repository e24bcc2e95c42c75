#pragma once
// Checks that no entry of the audit log was changed, removed, added or moved. It only reads, so a
// worker can run it while the log is being written.

#include <string>

#include "common/base/result.h"
#include "common/domain/people/audit.h"

namespace lockstep::launcher {

// Verifies the log. `newest`: the newest entry that the running writer knows; later ones are not
// checked. With number 0 nobody is writing: all entries are checked, and the entry in the log's
// `head` file must exist. `mark`: an entry that the log must have; number 0: none. `problem` is the
// first fault found; an error means that the log cannot be read.
Result<AuditVerified> verify_audit(const std::string& folder, const AuditMark& newest,
                                   const AuditMark& mark);

}  // namespace lockstep::launcher
