#pragma once
// The owners of files in the folders below a download's target (snapshot/capture/downloaded.h): a
// download marks its folders, and puts nothing into folders of another job or version.

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

// `owner`: the job's name, or the name of the pipeline whose step it is.
DownloadMarks marks_of_job(const std::string& owner);
DownloadMarks marks_of_asset(const RegisteredAsset& asset);

// Checks a target. Returns conflict if it is a file, or if one of the folders has files of another
// owner.
Status check_target(const std::string& target, const DownloadMarks& marks);

// Marks those folders that are there below `ready`, but not `ready` itself. Returns the first one
// that cannot be marked.
std::optional<std::string> mark_folders(const std::string& ready, const DownloadMarks& marks);

// The advice about a folder that cannot be marked.
std::string unmarked_text(const std::string& folder);

}  // namespace lockstep::cli
