#pragma once
// English for what a sweep decided: why a trial was stopped, why a sweep ended.

#include <string>

#include "common/domain/sweep.h"
#include "launcher/sweeps/next.h"

namespace lockstep::sweeps {

// "bandit: its best loss after 10 values is 0.7; 0.66 or less is within the slack of the best, 0.6"
std::string to_text(const StopWhy& why, const Objective& objective);

// "limits.timeout was reached"
std::string to_text(SweepEnding ending);

}  // namespace lockstep::sweeps
