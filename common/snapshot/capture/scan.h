#pragma once
// Lists a source directory: every folder, file and symlink that belongs to the snapshot, with one
// stat each. It reads no files except ignore files (also of the repository around a source), and
// hashes nothing.

#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/scanned.h"

namespace lockstep::snapshot {

Result<Scan> scan(const std::string& directory, const ScanOptions& options = {});
// Scans a folder. `root` is open; `directory` is its name for people.
Result<Scan> scan(io::Fd root, const std::string& directory, const ScanOptions& options);

}  // namespace lockstep::snapshot
