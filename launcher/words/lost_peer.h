#pragma once
// A failure that follows from another rank's end: "Connection closed by peer [10.93.0.4]", in
// English. It is no cause of its own, so it is told after the cause.

#include <optional>
#include <string>

#include "common/domain/exit_report.h"
#include "launcher/words/said.h"

namespace lockstep::words {

struct LostConnection {
  int rank = 0;                      // whose connection broke
  std::string address;               // of its peer, as its words have it
  int node_rank = -1;                // the node with that address; -1: unknown
  std::optional<RankEnd> end = {};  // of the peer, if known
  bool left = false;                 // all ranks of that node exited with 0
};

// "rank 1 failed only after its connection to 10.93.0.4 was closed: that is n3, whose rank 3 had
// been killed by signal 9".
Said say(const LostConnection& lost, const About& about);

}  // namespace lockstep::words
