#pragma once
// What the ranks of an attempt left on this node, brought to the launcher: `./outputs`, `./logs`,
// named outputs, and files that the job keeps by patterns, each as a tree of its own. What else its
// ranks made is named (NotKept). Where the working directory was an overlay, the
// mount is gone with the runner: its upper directory is read, and what shows through of the source
// tree is taken from that tree's objects. It changes nothing on the node, so that doing it again is
// safe.

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

// Where trees go. unavailable: it was given up (nothing is kept); resource_exhausted: there is no
// space for this one; conflict: a file changed on the way, and is worth another capture.
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

// An error: nothing can be said yet (the sink gave up), ask again. What cannot be collected for
// good is a problem of its output.
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

// The checkpoint of an attempt that runs, unless it is as before. It is taken at rest, so that no
// file is half written. `insist`: also when it never rests; a file that changes while it is read
// then keeps the version that it had in the checkpoint before.
Result<CapturedCheckpoint> capture_checkpoint(const CollectParts& parts, CheckpointMemory& memory,
                                              bool insist);

}  // namespace lockstep::agent
