#pragma once
// One attempt of a job as text for people: when and where it ran, the files of its parts, and how
// it ended. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// `before`: the attempt before this one, whose end is not repeated; null for the first.
std::string attempt_text(const std::string& job, const AttemptView& attempt,
                         const AttemptView* before);

}  // namespace lockstep::cli
