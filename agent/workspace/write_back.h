#pragma once
// Writes a collected output to the datastore's directory that its path names, as the job's user.

#include <string>

#include "common/base/result.h"
#include "common/domain/outputs.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

// `base`: the folder that has the ranks' named_output_folder(). A file in the datastore that has
// the same name is replaced. The error names the datastore and the path, with the cause.
Status write_back(const io::Fd& base, const OutputSpec& output, const std::string& job,
                  const io::User& user);

}  // namespace lockstep::agent
