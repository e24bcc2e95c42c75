#pragma once
// How full a file system is, when it is too full for new work, and reserve files: space that is
// released when no other is left.

#include <sys/statvfs.h>

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::io {

// The one measure of a disk that Lockstep shows and judges by.
struct DiskSpace {
  Bytes free;  // what an ordinary account can still write: without root's reserve, as df has it
  Bytes total;
};
DiskSpace space_of(const struct statvfs& info);
Result<DiskSpace> disk_space(const std::string& path);

// Less free than this is no place for new work: 2 % of the file system, at least 1 GiB; of a small
// one a tenth.
Bytes default_low_space(Bytes total);

// Makes `path` a file of `size` with all its blocks allocated. On failure no file is left.
Status make_reserve(const std::string& path, Bytes size);
// Releases the reserve; true when there was one.
bool release_reserve(const std::string& path);

// Turns the reserve into the file `path` with this content, durable, without a new block;
// resource_exhausted when it is smaller than that.
Status write_into_reserve(const std::string& reserve, const std::string& path,
                          std::string_view data, int mode = 0644);

}  // namespace lockstep::io
