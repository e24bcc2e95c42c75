#pragma once
// Measures the free space of a file system, says when there is too little for new work, and makes
// reserve files: files of a fixed size that are freed when no other space is left.

#include <sys/statvfs.h>

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::io {

// All output and all decisions about disk space use this measure.
struct DiskSpace {
  Bytes free;  // the space for an ordinary account: without root's reserve, as df prints it
  Bytes total;
  Bytes used = {};  // as df prints it; root's reserve counts neither as free nor as used
};
DiskSpace space_of(const struct statvfs& info);
Result<DiskSpace> disk_space(const std::string& path);

// The free space below which no new work is taken: 2 % of the file system, but at least 1 GiB, and
// at most a tenth of it.
Bytes default_low_space(Bytes total);

// Makes `path` a file of `size` whose blocks are allocated. After an error the file does not exist.
Status make_reserve(const std::string& path, Bytes size);
// Frees the reserve; true when there was one.
bool release_reserve(const std::string& path);

// Turns the reserve into the durable file `path` with this content, without allocating a block.
// Returns resource_exhausted if the reserve is smaller than the content.
Status write_into_reserve(const std::string& reserve, const std::string& path,
                          std::string_view data, int mode = 0644);

}  // namespace lockstep::io
