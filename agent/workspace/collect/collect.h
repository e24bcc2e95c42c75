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

#include "agent/workspace/collect/capture_memory.h"
#include "common/base/bytes.h"
#include "common/domain/runners/assignment.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/content/blob_store.h"
#include "common/transfer/transfer.h"

namespace lockstep::agent {

// The destination of captured trees. Errors: unavailable: the collection was given up, nothing is
// kept; resource_exhausted: the launcher cannot store this tree; conflict: a file changed while it
// was sent, so capture the tree again.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) = 0;
};

struct CollectParts {
  const Assignment& assignment;
  const io::AttemptDir& directory;
  // Reads directory objects of the source tree, for the unchanged files of an overlay.
  std::function<Result<std::string>(const Digest&)> read_object;
  OutputSink& sink;
  std::function<void(const std::string&)> tell;  // receives progress texts
  Interrupted interrupted = {};
};

struct Collected {
  std::vector<CollectedOutput> outputs;
  std::optional<NotKept> not_kept;  // absent: nothing to report
};

// Collects the outputs of an attempt. A file that was being rewritten when its rank was killed is
// set aside: see torn_files.h. If a checkpoint has such a file, its last capture counts. An error
// means that the sink gave up, that the job's user was not found, or that the source tree could not
// be fetched: the result is unknown, call it again. A permanent failure to collect an output is
// listed in that output's `problems`.
Result<Collected> collect_outputs(const CollectParts& parts);

// Captures ./outputs, ./logs and named outputs of a running attempt, and returns those that
// changed: see LiveCapture. Also returns, as a problem, a folder whose files cannot be kept.
Result<std::vector<CollectedOutput>> capture_so_far(const CollectParts& parts, SoFarMemory& memory);

struct CapturedCheckpoint {
  std::optional<CollectedOutput> checkpoint;  // absent: it is unchanged, or does not exist
  bool busy = false;                          // the ranks are writing it
};

// Captures the checkpoint of a running attempt if it changed. While the ranks write it, the result
// is `busy`, so that no half-written file is captured. With `insist` it is captured even then; for
// a file that changes while it is read, the version of the previous capture is kept.
Result<CapturedCheckpoint> capture_checkpoint(const CollectParts& parts, CheckpointMemory& memory,
                                              bool insist);

}  // namespace lockstep::agent
