#pragma once
// Helpers of the tests of trees: temporary directories, and stores that have a whole tree.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/snapshot/capture/capture.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::snapshot {

using test::TempDir;

// Puts all blobs of a captured tree into a store.
inline void store_all(const Snapshot& snapshot, BlobStore& store) {
  for (const DirectoryObject& object : snapshot.directories) {
    ASSERT_TRUE(store.put(object.digest, object.bytes));
  }
  for (const FileRecord& file : snapshot.files) {
    std::ifstream in(snapshot.directory + "/" + file.path, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    const Status put = store.put(file.digest, all.str());
    ASSERT_TRUE(put) << file.path << ": " << put.error().message;
  }
  ASSERT_TRUE(store.sync());
}

}  // namespace lockstep::snapshot
