#pragma once
// A reason of a later version: its code and its fields as they are.

#include <string>

#include "common/domain/why/data.h"

namespace lockstep::words {

std::string say(const Unknown& reason);

}  // namespace lockstep::words
