#pragma once
// Downloads what one attempt of a job left: the output trees of its nodes, merged, and what its
// ranks wrote to stdout and stderr. Everything is first fetched into a temporary folder in the
// target folder and verified, and name conflicts are found, before the first file appears. An
// interrupted download leaves the temporary folder, and the next one continues from it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/views.h"
#include "common/snapshot/blob_store.h"
#include "common/snapshot/tree_merge.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/log_files.h"

namespace lockstep::cli {

struct DownloadRequest {
  std::string folder;                // made when it does not exist
  std::uint32_t attempt = 0;         // 0 = the newest
  bool artifacts = true;             // ./outputs, ./logs and user_logs
  bool all_named = false;            // all named outputs
  std::optional<std::string> named;  // this one
  bool checkpoint = false;           // what its ranks saved for a later attempt
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
};

struct Downloaded {
  std::uint32_t attempt = 0;
  std::vector<DownloadedTree> trees;
  std::vector<LogFile> logs;  // below "artifacts/user_logs"
};

// What of the job's attempt is wanted and there. An error says what there is instead.
struct DownloadPlan {
  struct Tree {
    DownloadedTree to;
    std::vector<NodeTree> from;
    std::optional<Digest> base;  // of a checkpoint: what all nodes began with
  };
  std::uint32_t attempt = 0;
  std::vector<Tree> trees;
  bool logs = false;
};
Result<DownloadPlan> plan_download(const JobView& job, const DownloadRequest& request);

// "node local-1: ./outputs: a.sock was left out: a socket", for each part of the attempt and what
// is wanted of it.
std::vector<std::string> output_problems(const AttemptView& attempt,
                                         const DownloadRequest& request);

// The trees of all nodes as one, in a store that has their folders; what differs is told in
// tree.to.beside.
Result<Digest> merge_tree(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs);

using OnText = std::function<void(const std::string&)>;  // progress, in words
Result<Downloaded> download_job(Connection& connection, const JobId& job, DownloadPlan plan,
                                const std::string& folder, const OnText& progress);

}  // namespace lockstep::cli
