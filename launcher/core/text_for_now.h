#pragma once
// The text of a reason, for what in this folder still holds texts instead of reasons. It goes when
// the last of these does.

#include <string>

#include "launcher/words/why.h"

namespace lockstep::launcher {

inline std::string text_for_now(const Why& why) { return words::text_of(why); }

}  // namespace lockstep::launcher
