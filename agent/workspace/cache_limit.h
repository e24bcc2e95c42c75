#pragma once
// Keeps a node's cache of blobs and trees below a limit: it removes the least recently used tree
// first, then the blobs that only that tree needed. It never removes a tree that a part of this
// node uses or that was requested within `in_use_for`. For worker threads.

#include <mutex>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::agent {

struct CacheLimit {
  Bytes size;                         // 0 = none
  std::string attempts;               // the directory that holds the attempt directories
  Duration in_use_for = minutes(10);  // how long a request protects a tree
};

class BlobCacheLimit {
 public:
  BlobCacheLimit(CacheLimit limit, std::string folder, snapshot::BlobStore& blobs,
                 snapshot::TreeCache& trees)
      : limit_(std::move(limit)), folder_(std::move(folder)), blobs_(blobs), trees_(trees) {}

  // Enforces the limit. Does nothing while another thread does that.
  Status keep();
  // Removes the least recently used trees, whatever the limit is, until about `wanted` is free.
  // What is in use stays.
  Status free(Bytes wanted);

 private:
  Status remove_oldest(std::uint64_t bytes, bool* any);
  Status collect_blobs();

  const CacheLimit limit_;
  const std::string folder_;
  snapshot::BlobStore& blobs_;
  snapshot::TreeCache& trees_;
  std::mutex mutex_;
};

// The default size of the cache: a quarter of the file system that holds `path`.
Result<Bytes> default_cache_size(const std::string& path);

}  // namespace lockstep::agent
