#pragma once
// Measures the disk space of a tree of files, as du counts it. Counts each file once per call,
// follows no symlink, and enters no other file system.

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace lockstep::snapshot {

// The bytes that a path uses. Skips files that disappear meanwhile; 0 for a path that does not
// exist.
Result<std::uint64_t> disk_usage(const std::string& path);

}  // namespace lockstep::snapshot
