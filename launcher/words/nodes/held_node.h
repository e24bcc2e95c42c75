#pragma once
// A node takes no other job because one holds it as a whole: what helps who waits for it.

#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/domain/why/why.h"

namespace lockstep::words {

// "is held as a whole by job 'first'".
std::string held_as_a_whole(const JobId& holder);

// The advice for such a reason: wait, cancel the first holder that the reason names, or let jobs
// share nodes. "" if no node is held as a whole.
std::string help_where_held(const Why& why);

}  // namespace lockstep::words
