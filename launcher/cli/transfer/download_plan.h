#pragma once
// The plan of a download: the trees of an attempt's nodes, and their places. Pure, from the job's
// record.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/data/outputs.h"
#include "common/domain/messages/views.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::cli {

struct DownloadRequest {
  std::string folder;                // created if it does not exist
  std::uint32_t attempt = 0;         // 0 = the newest
  bool artifacts = true;             // downloads ./outputs, ./logs and user_logs
  bool all_named = false;            // downloads all named outputs
  std::optional<std::string> named;  // downloads this named output
  bool checkpoint = false;           // the checkpoint that its ranks saved
  bool wants(const CollectedOutput& output) const;
};

struct DownloadedTree {
  OutputKind kind = OutputKind::outputs;
  std::string name;  // the name of a named output
  std::string path;  // below the folder: "artifacts/outputs", "named-outputs/model"
  std::uint64_t files = 0;
  Bytes size;
  std::vector<std::string> nodes;
  std::vector<snapshot::Beside> beside;
  std::vector<std::string> partial;  // files that were being written when they were sent
};

enum class Modes { by_umask, exact };  // The modes of the written files.

// The requested outputs that the attempt has. An error of plan_download lists the existing ones.
struct DownloadPlan {
  struct Tree {
    DownloadedTree to;
    std::vector<NodeTree> from;
    std::vector<NodeTree> pieces;  // CollectedOutput::pieces of the same nodes
    std::optional<Digest> base;    // for a checkpoint: the tree that all nodes began with
  };
  std::uint32_t attempt = 0;
  std::vector<Tree> trees;
  bool logs = false;
  Modes modes = Modes::by_umask;
};
Result<DownloadPlan> plan_download(const JobView& job, const DownloadRequest& request);
// The newest attempt whose ranks saved one; null: none did. A running attempt may have saved
// nothing yet, and a failed one nothing at all.
const AttemptView* newest_with_checkpoint(const JobView& job);

// The problems of the requested outputs in all parts of the attempt, each as in "node local-1:
// ./outputs: a.sock was left out: a socket".
std::vector<std::string> output_problems(const AttemptView& attempt,
                                         const DownloadRequest& request);

}  // namespace lockstep::cli
