#pragma once
// Why a job, or a step, waits.

#include <string>

#include "common/domain/why/waits.h"

namespace lockstep::words {

std::string say(const WaitsToBePlaced& reason);
std::string say(const WaitsBehindJob& reason);

}  // namespace lockstep::words
