#pragma once
// The files that a job left, or has so far, without downloading them all: listing fetches only the
// folder objects, and reading a file fetches only its own bytes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/manifest.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/transfer/download.h"
#include "launcher/cli/transfer/pieced_files.h"

namespace lockstep::cli {

struct LeftFile {
  // the path as users write it: "outputs/model.pt", "named-outputs/model/a", "kept/x"
  std::string path;
  snapshot::Entry entry;
  bool partial = false;    // the file was being written when it was sent
  std::string whole = {};  // for a partial file: the path of the file whose beginning it has
};

class LeftFiles {
 public:
  // Fetches the folder objects of the trees in `plan`.
  static Result<std::unique_ptr<LeftFiles>> fetch(Connection& connection, const JobId& job,
                                                  DownloadPlan plan);
  ~LeftFiles();
  LeftFiles(const LeftFiles&) = delete;
  LeftFiles& operator=(const LeftFiles&) = delete;

  std::uint32_t attempt() const { return plan_.attempt; }
  // Files and symlinks, sorted by path.
  const std::vector<LeftFile>& files() const { return files_; }
  // Passes the bytes of `file`, which must not be a symlink, piece by piece to `sink` until it
  // returns false.
  Status read(Connection& connection, const LeftFile& file,
              const std::function<bool(std::string_view)>& sink);

 private:
  LeftFiles(JobId job, DownloadPlan plan) : job_(std::move(job)), plan_(std::move(plan)) {}
  Status open_store();
  Status list(const Digest& folder, const std::string& path);
  Status read_blob(Connection& connection, const snapshot::BlobWanted& wanted,
                   const std::vector<Digest>& trees,
                   const std::function<bool(std::string_view)>& sink);

  const JobId job_;
  DownloadPlan plan_;
  std::string scratch_;
  std::unique_ptr<snapshot::BlobStore> blobs_;
  std::vector<LeftFile> files_;
  std::vector<NodeTree> roots_;  // the roots of the nodes' trees, as the launcher has them
  PieceLists pieces_;
};

}  // namespace lockstep::cli
