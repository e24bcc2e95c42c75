#pragma once
// The sentence of each reason. It is for people: nothing may compare it, search it or cut it.

#include <string>

#include "common/domain/why/why.h"

namespace lockstep::words {

// Makes one line without a full stop; "" without a reason. For a reason that this version does not
// know: its code and its fields.
std::string text_of(const Why& why);

}  // namespace lockstep::words
