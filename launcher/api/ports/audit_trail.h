#pragma once
// The audit log, as those use it who add entries and ask for them. It decides nothing; of what
// anybody can cause at will it may count instead of keep.

#include <functional>
#include <string>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/people/audit.h"

namespace lockstep::launcher {

class AuditTrail {
 public:
  virtual ~AuditTrail() = default;
  // The caller sets who, what, object and outcome, and the key as it is on the wire; time and
  // number are added. Called before the answer is sent.
  virtual void record(AuditEntry entry) = 0;
  // Why no change is accepted now: entries that cannot be written have reached their limit. ""
  // while changes are accepted.
  virtual std::string is_stuck() const = 0;
  // Both are answered later, on the loop: by AuditReply and AuditVerified, or Refused. Entries that
  // were recorded before the call count.
  virtual void query(const QueryAudit& query, std::function<void(ClientReply)> then) = 0;
  virtual void verify(const VerifyAudit& ask, std::function<void(ClientReply)> then) = 0;
};

}  // namespace lockstep::launcher
