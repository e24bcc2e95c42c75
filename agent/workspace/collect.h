#pragma once
// Brings an attempt's outputs from this node to the launcher: `./outputs`, `./logs`, named outputs,
// and files that match the job's keep patterns, each as a tree of its own. Other files that ranks
// made are listed (NotKept). An overlay's mount is gone with the runner: its upper directory is
// read, and unchanged files are taken from the source tree's objects. Nothing on the node is
// changed, so it can be repeated.

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

// The destination of trees. unavailable: cancelled, and nothing is kept; resource_exhausted: no
// space for this tree; conflict: a file changed meanwhile, capture it again.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) = 0;
};

// Whether there is anything to collect, at the price of a few system calls.
bool is_anything_left(const Assignment& assignment, const io::AttemptDir& directory);

struct CollectParts {
  const Assignment& assignment;
  const io::AttemptDir& directory;
  // Directory objects of the source tree, for what shows through.
  std::function<Result<std::string>(const Digest&)> read_object;
  OutputSink& sink;
  std::function<void(const std::string&)> tell;  // progress, in words
};

struct Collected {
  std::vector<CollectedOutput> outputs;
  std::optional<NotKept> not_kept;  // absent: nothing to say
};

// An error: the sink gave up; call again. Files that can never be collected are listed as problems
// of their output.
Result<Collected> collect_outputs(const CollectParts& parts);

// Larger ./outputs are collected only when the ranks have ended.
inline constexpr Bytes kMostOutputsSoFar = gibibytes(1);

// Captures ./logs or ./outputs (`kind`) of an attempt that runs. nullopt: nothing is new since
// `seen` (all zero: never captured), which holds names, sizes and times, so that an unchanged
// folder costs one stat per file. A log file that grows meanwhile is taken up to its first size.
// ./outputs are taken only when no file was touched for a second, and up to kMostOutputsSoFar.
Result<std::optional<CollectedOutput>> capture_folder(const CollectParts& parts, OutputKind kind,
                                                      Digest& seen);

// What is known of the checkpoint of an attempt that runs, from one capture to the next.
struct CheckpointMemory {
  Digest look;                              // names, sizes and times; all zero: never seen
  std::optional<snapshot::LowerTree> tree;  // as it was captured last
};

struct CapturedCheckpoint {
  std::optional<CollectedOutput> checkpoint;  // absent: as before, or there is none
  bool busy = false;                          // it is being written
};

// The checkpoint of a running attempt, unless unchanged. It is captured while no file is being
// written. `insist`: also when files keep changing; a file that changes while it is read then keeps
// its version from the previous checkpoint.
Result<CapturedCheckpoint> capture_checkpoint(const CollectParts& parts, CheckpointMemory& memory,
                                              bool insist);

}  // namespace lockstep::agent
