#pragma once
// The kernel's facts about a file: its identity, and how many of its bytes use no disk.

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

FileIdentity identity_of(const struct stat& info);

// The result of fstat, with the file's identity.
struct StatResult {
  FileIdentity identity;
  std::uint32_t mode = 0;   // includes the file type
  std::uint64_t holes = 0;  // bytes of the file that use no disk
};
Result<StatResult> stat_of(int fd, const std::string& path);

}  // namespace lockstep::snapshot
