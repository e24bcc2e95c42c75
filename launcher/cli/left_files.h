#pragma once
// Lists and reads a job's output files, also of a running job, without downloading all of them: the
// list fetches only folder objects, and reading a file fetches that file.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/snapshot/blob_store.h"
#include "common/snapshot/manifest.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/download.h"

namespace lockstep::cli {

struct LeftFile {
  std::string path;  // as people name it: "outputs/model.pt", "named-outputs/model/a", "kept/x"
  snapshot::Entry entry;
};

class LeftFiles {
 public:
  // Fetches the folders of what `plan` names.
  static Result<std::unique_ptr<LeftFiles>> fetch(Connection& connection, const JobId& job,
                                                  DownloadPlan plan);
  ~LeftFiles();
  LeftFiles(const LeftFiles&) = delete;
  LeftFiles& operator=(const LeftFiles&) = delete;

  std::uint32_t attempt() const { return plan_.attempt; }
  // Files and symlinks, in the order of their paths.
  const std::vector<LeftFile>& files() const { return files_; }
  // The bytes of one of them, which is a file, piece by piece, until `sink` says no.
  Status read(Connection& connection, const LeftFile& file,
              const std::function<bool(std::string_view)>& sink);

 private:
  LeftFiles(JobId job, DownloadPlan plan) : job_(std::move(job)), plan_(std::move(plan)) {}
  Status open_store();
  Status list(const Digest& folder, const std::string& path);

  const JobId job_;
  DownloadPlan plan_;
  std::string scratch_;
  std::unique_ptr<snapshot::BlobStore> blobs_;
  std::vector<LeftFile> files_;
};

}  // namespace lockstep::cli
