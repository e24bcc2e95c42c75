#include "common/domain/audit.h"

namespace lockstep {

std::string_view to_string(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::done: return "done";
    case AuditOutcome::refused: return "refused";
    case AuditOutcome::read: return "read";
    case AuditOutcome::note: return "note";
  }
  return "?";
}

}  // namespace lockstep
