#pragma once
// How the ranks of a job ended, as text for people. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// For `job show`: what each rank of the part does, or how and when it ended; many ranks that do the
// same share a line. "" before its ranks start.
std::string rank_state_lines(const PartView& part);

// For a report of a failure: ranks of the attempt that had ended well before it, which their peers
// may have missed. "" if there are none.
std::string ended_before_lines(const AttemptView& attempt, const ExitReport& report);

// For a report of a failure: whose the addresses are that its words name. "" if they name none.
std::string address_lines(const AttemptView& attempt, const ExitReport& report);

}  // namespace lockstep::cli
