#pragma once
// A finding that a reason has, for the words of say_found.h.

#include "common/domain/why/jobs/named_found.h"
#include "launcher/words/said.h"

namespace lockstep::words {

About about(const NamedFound& named);

}  // namespace lockstep::words
