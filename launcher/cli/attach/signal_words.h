#pragma once
// Signals as people write them: USR1, SIGUSR1, usr1, 10. Pure.

#include <string>

#include "common/base/result.h"

namespace lockstep::cli {

// Reads a signal from 1 to 64. Returns invalid_argument for other words, with the nearest, or where
// all are listed.
Result<int> signal_from(const std::string& word);
// "SIGUSR1"; "SIGRTMIN+3" of those without a name.
std::string signal_text(int number);

}  // namespace lockstep::cli
