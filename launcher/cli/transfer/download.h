#pragma once
// Downloads the results of one attempt of a job: the output trees of its nodes, merged, and the
// stdout and stderr of its ranks. Everything is fetched into a temporary folder in the target
// folder, verified, and checked for name conflicts before the first file appears. An interrupted
// download leaves the temporary folder, and the next one continues from it.

#include <functional>
#include <string>
#include <vector>

#include "common/domain/data/asset.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/transfer/download_plan.h"
#include "launcher/cli/transfer/log_files.h"

namespace lockstep::cli {

struct Downloaded {
  std::uint32_t attempt = 0;
  std::vector<DownloadedTree> trees;
  std::vector<LogFile> logs;  // the logs below "artifacts/user_logs"
  std::string unmarked = {};  // the folder that could not be marked (download_marks.h); "": none
};

// Merges the trees of all nodes; `blobs` must have their folder objects. Returns the root.
// tree.to.beside lists the entries that were renamed because nodes had different ones of one name.
Result<Digest> merge_tree(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs);

using OnText = std::function<void(const std::string&)>;  // Gets the progress in words.
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
