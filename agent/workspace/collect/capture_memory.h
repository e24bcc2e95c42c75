#pragma once
// The memory of a running attempt's captures from one to the next; the collection at the attempt's
// end uses a part of it.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/io/process.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/live/live_capture.h"

namespace lockstep::agent {

// The state between captures of a running attempt's outputs.
struct SoFarMemory {
  struct Place {
    snapshot::LiveCapture capture;
    std::optional<std::string> folder;  // the folder that `options` are for
    snapshot::TreeOptions options;
    std::string problem;  // why nothing is captured, as it was reported; "": there is no reason
  };
  std::map<std::pair<OutputKind, std::string>, Place> places;
  std::optional<io::User> user;  // the job's, as looked up last
  Duration user_since{0};        // in time since boot
};

// State kept between captures of a running attempt's checkpoint.
struct CheckpointMemory {
  Digest look;  // a digest of names, sizes and times; all zero: never seen
  std::map<std::string, snapshot::FileIdentity> files;  // the files of the last capture, by path
  std::optional<snapshot::LowerTree> tree;              // the last capture
  std::optional<CollectedOutput> told;                  // the last capture that the launcher has
};

// The versions that captures have sent while the attempt ran, and when ranks of it were killed (a
// rank that exited by itself had finished its writes). Null: nothing is known.
struct Interrupted {
  std::vector<Instant> killed;
  const SoFarMemory* so_far = nullptr;
  const CheckpointMemory* checkpoint = nullptr;
};

}  // namespace lockstep::agent
