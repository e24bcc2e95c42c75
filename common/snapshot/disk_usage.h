#pragma once
// What a tree of files takes on disk, as du counts it; no file twice within one call, no symlink
// followed, no other file system entered.

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace lockstep::snapshot {

// Entries that vanish during the walk are ignored; a missing path has size 0.
Result<std::uint64_t> disk_usage(const std::string& path);

}  // namespace lockstep::snapshot
