#pragma once
// The source folder that a job or step names as `code`, and the files that a component adds to it.

#include "common/base/result.h"
#include "launcher/files/job/reader.h"

namespace lockstep::spec {

// Returns unsupported if `code` names a repository, or code that is registered elsewhere.
Status check_code_is_local(const Source& source, const ReadJob& job);

// Replaces job.code by the path of the folder, which exists: relative to the file that names it, as
// on Azure.
Status find_code(const Source& source, ReadJob& job);
// Does the same for job.includes, whose names differ.
Status find_includes(const Source& source, ReadJob& job);

}  // namespace lockstep::spec
