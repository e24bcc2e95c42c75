#pragma once
// A failure that follows from another rank's end, in English: "Connection closed by peer
// [10.93.0.4]". It is not a cause of its own, so it is told after the failure.

#include "common/domain/ranks/exit_report.h"
#include "launcher/words/said.h"

namespace lockstep::words {

// "rank 1 failed after a connection of its own was closed: 10.93.0.4 is n3, where rank 3 had been
// killed by signal 9".
Said say(const LostPeer& peer, int rank, const About& about);

}  // namespace lockstep::words
