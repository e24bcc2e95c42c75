#pragma once
// Why lockstep-spawn did not start a program, as a reason.

#include <string>

#include "common/domain/why/why.h"
#include "runner/spawn/protocol.h"

namespace lockstep::runner {

// The reason for a failed start. `error`: the errno of `stage`.
Why start_failure_of(const std::string& program, int error, spawn::SpawnStage stage);

}  // namespace lockstep::runner
