#pragma once
// Whose files a folder below a download's target has (snapshot/capture/downloaded.h): which folders
// a download marks, and that it puts nothing into those of another job or version.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/asset.h"

namespace lockstep::cli {

struct DownloadMarks {
  std::string owner;                 // a job's name, or NAME:VERSION; "": nothing is marked
  std::vector<std::string> folders;  // below the target; "" is the target, if the download makes it
};

// `owner`: the job's name, or that of the pipeline that it is a step of.
DownloadMarks marks_of_job(const std::string& owner);
DownloadMarks marks_of_asset(const RegisteredAsset& asset);

// Conflict: the target is a file, or one of the folders has files of another owner.
Status check_target(const std::string& target, const DownloadMarks& marks);

// Marks those folders that are there below `ready`, but not `ready` itself. Returns the first one
// that cannot be marked.
std::optional<std::string> mark_folders(const std::string& ready, const DownloadMarks& marks);

// What to do about a folder that cannot be marked.
std::string unmarked_text(const std::string& folder);

}  // namespace lockstep::cli
