#pragma once
// Why a node takes no other job: one job holds it as a whole. The launcher writes the sentence into
// the reason of a job that waits; the command line finds the holder there and says what helps.
// Readers who may not see the holder get the sentence without its name (launcher/api/viewer.h).

#include <string>
#include <string_view>

#include "common/base/ids.h"

namespace lockstep::words {

// "is held as a whole by job 'first'".
std::string held_as_a_whole(const JobId& holder);

// What the reader of such a reason can do: wait, cancel the first holder that the reason names, or
// let jobs share nodes. "" if no node is held as a whole.
std::string help_where_held(std::string_view reason);

}  // namespace lockstep::words
