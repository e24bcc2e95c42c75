#pragma once
// Downloads the results of one attempt of a job: the output trees of its nodes, merged, and the
// stdout and stderr of its ranks. Everything is fetched into a temporary folder in the target
// folder, verified, and checked for name conflicts before the first file appears. An interrupted
// download leaves the temporary folder, and the next one continues from it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/data/asset.h"
#include "common/domain/messages/views.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/tree_merge.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/transfer/log_files.h"

namespace lockstep::cli {

struct DownloadRequest {
  std::string folder;                // created if it does not exist
  std::uint32_t attempt = 0;         // 0 = the newest
  bool artifacts = true;             // ./outputs, ./logs and user_logs
  bool all_named = false;            // all named outputs
  std::optional<std::string> named;  // this one
  bool checkpoint = false;           // the checkpoint that its ranks saved
  bool wants(const CollectedOutput& output) const;
};

struct DownloadedTree {
  OutputKind kind = OutputKind::outputs;
  std::string name;  // of a named one
  std::string path;  // below the folder: "artifacts/outputs", "named-outputs/model"
  std::uint64_t files = 0;
  Bytes size;
  std::vector<std::string> nodes;
  std::vector<snapshot::Beside> beside;
  std::vector<std::string> partial;  // files that were being written when they were sent
};

struct Downloaded {
  std::uint32_t attempt = 0;
  std::vector<DownloadedTree> trees;
  std::vector<LogFile> logs;  // below "artifacts/user_logs"
  std::string unmarked = {};  // the folder that could not be marked (download_marks.h); "": none
};

enum class Modes { by_umask, exact };  // of the files that are written

// The requested outputs that the attempt has. An error of plan_download lists the existing ones.
struct DownloadPlan {
  struct Tree {
    DownloadedTree to;
    std::vector<NodeTree> from;
    std::vector<NodeTree> pieces;  // CollectedOutput::pieces of the same nodes
    std::optional<Digest> base;    // of a checkpoint: the tree that all nodes began with
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

// Merges the trees of all nodes; `blobs` must have their folder objects. Returns the root.
// tree.to.beside lists the entries that were renamed because nodes had different ones of one name.
Result<Digest> merge_tree(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs);

using OnText = std::function<void(const std::string&)>;  // progress, in words
// The folders that it makes are marked as `owner`'s (download_marks.h): the job's, or the
// pipeline's that the job is a step of. Conflict: `folder` is a file, or holds what was downloaded
// of another one.
Result<Downloaded> download_job(Connection& connection, const JobId& job, const std::string& owner,
                                DownloadPlan plan, const std::string& folder,
                                const OnText& progress);
// The files of a registered version (its tree is known), one tree into a folder of its name below
// `folder`, which is marked as the version's. Conflict: as of download_job.
// Modes::exact: Lockstep's own copy, with the modes that the files have in the tree, so that they
// make the same tree again; nothing is marked.
Result<Downloaded> download_asset(Connection& connection, const RegisteredAsset& asset,
                                  const std::string& folder, const OnText& progress,
                                  Modes modes = Modes::by_umask);

}  // namespace lockstep::cli
