#pragma once
// Why a program did not start, for people, and the exit code that a shell would have given it.

#include <string>

#include "runner/spawn/protocol.h"

namespace lockstep::spawn {

// The exit code of a failed start: 126 or 127 as in shells; otherwise 125.
int exit_code_of(int error, SpawnStage stage);
// "train.py: Permission denied"; "cannot become the run-as user: Operation not permitted".
std::string why_not_started(const std::string& program, int error, SpawnStage stage);

}  // namespace lockstep::spawn
