#pragma once
// Whether what an attempt needs fits on this node's disk: asked before it is fetched or written, so
// that a tree that is too large ends nowhere in the middle, and takes no space from other jobs.

#include <string>

#include "agent/workspace/cache_limit.h"
#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/io/files/disk_space.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::agent {

struct Room {
  Bytes fetched;  // the bytes that are written into the cache
  Bytes written;  // the bytes that are written out of it

  Bytes total() const;  // at most UINT64_MAX
};

// Checks that the bytes fit on the disk. Returns unsatisfiable, with the numbers, if they do not,
// so another node should be tried. A file counts with its size: how much of it are holes is not
// known before it is here. `kept` stays free for the jobs that run. Files whose sum is at most
// `kept` may use it, since the node takes no new part while its disk is low; they are refused on a
// full disk alone (resource_exhausted).
Status check_room(const Room& needed, const io::DiskSpace& disk, Bytes kept);

// Checks that the disk of a cache has room, also for attempts on the same disk. If not, it removes
// trees of the cache that no job uses now. Errors are those of check_room(). For worker threads.
class RoomCheck {
 public:
  // `low`: AgentConfig::low_space; 0 = io::default_low_space.
  RoomCheck(std::string cache, snapshot::BlobStore& blobs, BlobCacheLimit& limit, Bytes low);

  // Checks the room for fetching the `missing` bytes of a tree, whose directories are in the cache,
  // and for writing the tree out.
  Status for_tree(const Digest& root, const snapshot::MaterializeOptions& options,
                  Bytes missing) const;
  Status for_tree(const Digest& root, const snapshot::MaterializeOptions& options) const;
  // Checks the room for a private copy of the tree at this path, which is on the same disk, or of
  // so much from another one.
  Status for_copy(const std::string& tree) const;
  Status for_copy(Bytes size) const;

 private:
  Status ask(const Room& needed) const;

  const std::string cache_;
  snapshot::BlobStore& blobs_;
  BlobCacheLimit& limit_;
  const Bytes low_;
  const bool shares_blocks_;  // a copy takes no space
};

}  // namespace lockstep::agent
