#include "common/transfer/tree_units.h"

#include <unordered_set>
#include <utility>

#include "common/snapshot/manifest.h"

namespace lockstep::transfer {

using snapshot::Entry;
using snapshot::EntryKind;

Result<std::vector<TreeUnit>> units_of(const snapshot::BlobStore& store, const Digest& root) {
  std::vector<TreeUnit> units;
  TreeUnit together;
  const auto close = [&] {
    if (!together.blobs.empty()) units.push_back(std::exchange(together, {}));
  };
  std::unordered_set<Digest> seen_directories{root}, seen_files;
  std::vector<Digest> open{root};
  while (!open.empty()) {
    const Digest next = open.back();
    open.pop_back();
    TRY_ASSIGN(const std::string bytes, store.get(next, {snapshot::kMaxDirectoryObjectBytes}));
    TRY_ASSIGN(const snapshot::Directory directory, snapshot::decode_directory(bytes));
    for (const Entry& entry : directory.entries) {
      if (entry.kind == EntryKind::directory && seen_directories.insert(entry.digest).second)
        open.push_back(entry.digest);
      if (entry.kind != EntryKind::file || !seen_files.insert(entry.digest).second) continue;
      if (entry.size > kUnitBytes) {
        units.push_back({{{entry.digest, entry.size, false}}, entry.size});
        continue;
      }
      together.blobs.push_back({entry.digest, entry.size, false});
      together.bytes += entry.size;
      if (together.bytes >= kUnitBytes || together.blobs.size() >= kMaxBlobsInUnit) close();
    }
  }
  close();
  return units;
}

}  // namespace lockstep::transfer
