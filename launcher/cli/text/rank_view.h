#pragma once
// How the ranks of a job ended, as text for people. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// The lines for `job show`: what each rank of the part does, or how and when it ended; many ranks
// that do the same share a line. "" before its ranks start.
std::string rank_state_lines(const PartView& part);

// The ranks of the attempt that had ended well before a failure, which their peers may have missed,
// for its report. "" if there are none.
std::string ended_before_lines(const AttemptView& attempt, const ExitReport& report);

// The owners of the addresses in a failure's words, for its report. "" if they name none.
std::string address_lines(const AttemptView& attempt, const ExitReport& report);

}  // namespace lockstep::cli
