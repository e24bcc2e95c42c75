#pragma once
// Sends the outputs of an attempt's ranks on this node to the launcher: `./outputs`, `./logs`,
// named outputs, and files that match the job's `keep` patterns, each as a separate tree. Other
// files that the ranks made are only listed (NotKept). If the working directory was an overlay, its
// mount ended with the runner: the overlay's upper directory is read, and unchanged files of the
// source tree are taken from that tree's objects. Nothing on the node is changed, so it can be
// repeated.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/assignment.h"
#include "common/io/attempt_dir.h"
#include "common/snapshot/blob_store.h"
#include "common/snapshot/capture.h"
#include "common/transfer/transfer.h"

namespace lockstep::agent {

// The destination of captured trees. unavailable: the collection was given up, nothing is kept;
// resource_exhausted: no space for this tree; conflict: a file changed while it was sent, so
// capture the tree again.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) = 0;
};

// Whether there may be anything to collect. Takes a few system calls.
bool is_anything_left(const Assignment& assignment, const io::AttemptDir& directory);

struct CollectParts {
  const Assignment& assignment;
  const io::AttemptDir& directory;
  // Reads directory objects of the source tree, for the unchanged files of an overlay.
  std::function<Result<std::string>(const Digest&)> read_object;
  OutputSink& sink;
  std::function<void(const std::string&)> tell;  // receives progress texts
};

struct Collected {
  std::vector<CollectedOutput> outputs;
  std::optional<NotKept> not_kept;  // absent: nothing to report
};

// An error means that the sink gave up: the result is unknown, call it again. A permanent failure
// to collect an output is listed in that output's `problems`.
Result<Collected> collect_outputs(const CollectParts& parts);

// ./outputs larger than this are collected only after the ranks have ended.
inline constexpr Bytes kMostOutputsSoFar = gibibytes(1);

// Captures ./logs or ./outputs (`kind`) of a running attempt. nullopt: nothing changed since `seen`
// (all zero: never captured). `seen` is a digest of names, sizes and times, so an unchanged folder
// costs one stat per file. If a log file grows meanwhile, its first size is captured. ./outputs are
// captured only if no file changed for a second and they are at most kMostOutputsSoFar.
Result<std::optional<CollectedOutput>> capture_folder(const CollectParts& parts, OutputKind kind,
                                                      Digest& seen);

// State kept between captures of a running attempt's checkpoint.
struct CheckpointMemory {
  Digest look;                              // of names, sizes and times; all zero: never seen
  std::optional<snapshot::LowerTree> tree;  // the last capture
};

struct CapturedCheckpoint {
  std::optional<CollectedOutput> checkpoint;  // absent: unchanged, or there is none
  bool busy = false;                          // the ranks are writing it
};

// Captures the checkpoint of a running attempt if it changed. While the ranks write it, the result
// is `busy`, so that no half-written file is captured. With `insist` it is captured even then; for
// a file that changes while it is read, the version of the previous capture is kept.
Result<CapturedCheckpoint> capture_checkpoint(const CollectParts& parts, CheckpointMemory& memory,
                                              bool insist);

}  // namespace lockstep::agent
