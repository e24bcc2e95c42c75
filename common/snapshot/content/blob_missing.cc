// Finds blobs that are missing from trees in a BlobStore.

#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/snapshot/content/blob_store_impl.h"
#include "common/snapshot/content/walk_meter.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kMaxRememberedTrees = 1'000'000, kMaxRememberedIncomplete = 100'000;

}  // namespace

Result<std::vector<Digest>> BlobStore::missing_from(const Digest& root, const Walk& walk) {
  TRY(sync());
  TRY_ASSIGN(const std::vector<BlobWanted> wanted, missing_blobs_from(root, walk));
  std::vector<Digest> digests;
  digests.reserve(wanted.size());
  for (const BlobWanted& blob : wanted) digests.push_back(blob.digest);
  return digests;
}

Result<std::vector<BlobWanted>> BlobStore::missing_blobs_from(const Digest& root,
                                                              const Walk& walk) {
  std::vector<BlobWanted> missing;
  std::vector<Digest> visited;
  std::uint64_t times_forgot = 0;
  {
    std::lock_guard guard(impl_->complete_mutex);
    times_forgot = impl_->times_forgot;
  }
  TRY(impl_->walk(*this, root, walk, missing, visited));
  std::lock_guard guard(impl_->complete_mutex);
  if (missing.empty() && times_forgot == impl_->times_forgot) {
    if (impl_->complete.size() + visited.size() > kMaxRememberedTrees) impl_->complete.clear();
    impl_->complete.insert(visited.begin(), visited.end());
  }
  return missing;
}

bool BlobStore::Impl::is_complete(const Digest& directory) {
  std::lock_guard guard(complete_mutex);
  return complete.count(directory) != 0;
}

std::optional<BlobWanted> BlobStore::Impl::known_missing(const BlobStore& store,
                                                         const Digest& directory) {
  BlobWanted missing;
  {
    std::lock_guard guard(complete_mutex);
    const auto found = incomplete.find(directory);
    if (found == incomplete.end()) return std::nullopt;
    missing = found->second;
  }
  if (!store.has(missing.digest)) return missing;
  std::lock_guard guard(complete_mutex);
  incomplete.erase(directory);
  return std::nullopt;
}

// A walk over a tree that collects the blobs missing from it.
struct BlobStore::Impl::MissingWalk {
  const BlobStore& store;
  const Walk& how;
  std::vector<BlobWanted>& missing;
  WalkMeter meter{how};
  std::vector<OpenDirectory> open = {};
  std::unordered_set<Digest> seen_directories = {}, seen_files = {};
  bool ends() const { return missing.size() >= how.most_missing; }
};

// Records the missing files of a directory, and queues the directories in it.
Status BlobStore::Impl::read_entries(MissingWalk& walk, const OpenDirectory& directory,
                                     const std::string& bytes) {
  Status counted;
  const Status decoded = each_entry(bytes, [&](const Entry& entry) {
    counted = walk.meter.entry();
    if (!counted || walk.ends()) return false;
    if (entry.kind == EntryKind::symlink) return true;
    const BlobWanted child{entry.digest, entry.size, entry.kind == EntryKind::directory};
    if (child.directory && walk.seen_directories.insert(entry.digest).second)
      walk.open.push_back({child, directory.depth + 1});
    if (child.directory || !walk.seen_files.insert(entry.digest).second) return true;
    if (walk.store.has(entry.digest)) return true;
    walk.missing.push_back(child);
    if (walk.how.most_missing != 1) return true;
    std::lock_guard guard(complete_mutex);
    if (incomplete.size() >= kMaxRememberedIncomplete) incomplete.clear();
    incomplete.try_emplace(directory.blob.digest, child);
    return true;
  });
  TRY(std::move(counted));
  if (!decoded) return decoded.error().within("blob " + directory.blob.digest.hex());
  return {};
}

Status BlobStore::Impl::walk(const BlobStore& store, const Digest& tree, const Walk& how,
                             std::vector<BlobWanted>& missing, std::vector<Digest>& visited) {
  MissingWalk walk{.store = store, .how = how, .missing = missing};
  walk.open.push_back({{tree, 0, true}});
  walk.seen_directories.insert(tree);
  while (!walk.open.empty() && !walk.ends()) {
    const OpenDirectory next = walk.open.back();
    const Digest& digest = next.blob.digest;
    walk.open.pop_back();
    if (is_complete(digest)) continue;
    if (is_condemned(digest)) {
      missing.push_back(next.blob);
      continue;
    }
    if (how.most_missing == 1) {
      if (const auto known = known_missing(store, digest)) {
        missing.push_back(*known);
        return {};
      }
    }
    auto bytes = walk.meter.read(store, digest, next.depth);
    if (!bytes && bytes.error().code != ErrorCode::not_found &&
        bytes.error().code != ErrorCode::corrupt) {
      return bytes.error();
    }
    if (!bytes) {
      missing.push_back(next.blob);
      continue;
    }
    TRY(read_entries(walk, next, *bytes));
    if (!walk.ends()) visited.push_back(digest);
  }
  return {};
}

}  // namespace lockstep::snapshot
