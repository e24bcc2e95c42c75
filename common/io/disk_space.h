#pragma once
// How full a file system is, when that is too full for new work, and a file of a given size that is
// given back when there is no other space left.

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::io {

struct DiskSpace {
  Bytes free;  // for us: without what is kept for root, unless we are
  Bytes total;
};
Result<DiskSpace> disk_space(const std::string& path);

// Less free than this is no place for new work: 2 % of the file system, at least 1 GiB; of a small
// one a tenth.
Bytes default_low_space(Bytes total);

// Makes `path` a file of `size` that really takes its blocks. Whatever fails leaves none.
Status make_reserve(const std::string& path, Bytes size);
// Gives them back; true when there were any.
bool release_reserve(const std::string& path);

// Turns the reserve into the file `path` with this content, durable, without a new block;
// resource_exhausted when it is smaller than that.
Status write_into_reserve(const std::string& reserve, const std::string& path,
                          std::string_view data, int mode = 0644);

}  // namespace lockstep::io
