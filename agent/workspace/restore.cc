#include "agent/workspace/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/workspace/trees/put_in_place.h"
#include "common/snapshot/content/reachable.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kMaxObject = snapshot::kMaxDirectoryObjectBytes;

// Fetches directories only. Files that only an older tree has are not fetched.
Status fetch_folders(const RestoreParts& parts, const Digest& root) {
  for (;;) {
    TRY_ASSIGN(std::vector<snapshot::BlobWanted> wanted, parts.cache.missing_blobs_from(root));
    std::erase_if(wanted, [&](const snapshot::BlobWanted& blob) {
      return !blob.directory && blob.digest != root;
    });
    if (wanted.empty()) return {};
    TRY(parts.blobs.fetch(root, wanted, parts.cache, {}));
  }
}

Result<Digest> join(const RestoreParts& parts) {
  const CheckpointSource& source = parts.source;
  const bool alone = source.trees.size() == 1;
  if (source.base && !alone) TRY(fetch_folders(parts, *source.base));
  for (const NodeTree& tree : source.trees) TRY(fetch_folders(parts, tree.root));
  snapshot::DirectoryObjects objects;
  objects.read = [&](const Digest& digest) { return parts.cache.get(digest, Bytes{kMaxObject}); };
  snapshot::Snapshot joined;
  objects.write = [&](const Digest& digest, const std::string& bytes) {
    joined.directories.push_back({digest, bytes});
    return parts.cache.put(digest, bytes);
  };
  TRY_ASSIGN(joined.root, snapshot::merge_checkpoints(source.base, source.trees, objects));
  // The next attempt may need this tree as its base, on a node that never had it.
  if (!joined.directories.empty()) TRY(parts.blobs.push(joined, {}));
  return joined.root;
}

// Fetches the files of the joined tree. Only this node has that tree, so each file is requested as
// part of the tree that it came from.
Status fetch_files(const RestoreParts& parts, const Digest& root) {
  TRY_ASSIGN(std::vector<snapshot::BlobWanted> wanted, parts.cache.missing_blobs_from(root));
  std::vector<Digest> from;
  for (const NodeTree& tree : parts.source.trees) from.push_back(tree.root);
  if (parts.source.base && from.size() != 1) from.push_back(*parts.source.base);
  for (const Digest& tree : from) {
    if (wanted.empty()) return {};
    TRY_ASSIGN(const snapshot::Reachable below, snapshot::reachable_from(parts.cache, tree));
    const auto rest = std::stable_partition(
        wanted.begin(), wanted.end(), [&](const auto& blob) { return below.has(blob.digest); });
    const std::vector<snapshot::BlobWanted> here(wanted.begin(), rest);
    wanted.erase(wanted.begin(), rest);
    if (here.empty()) continue;
    TRY(parts.blobs.fetch(tree, here, parts.cache, [&](const transfer::Progress& done) {
      parts.tell(fmt::format("fetching the checkpoint: {} of {}", to_string(Bytes{done.done_bytes}),
                             to_string(Bytes{done.total_bytes})));
    }));
  }
  return {};
}

Status count(const RestoreParts& parts, const Digest& folder, CollectedOutput& out) {
  TRY_ASSIGN(const std::string bytes, parts.cache.get(folder, Bytes{kMaxObject}));
  TRY_ASSIGN(const snapshot::Directory directory, snapshot::decode_directory(bytes));
  for (const snapshot::Entry& entry : directory.entries) {
    if (entry.kind == snapshot::EntryKind::directory) TRY(count(parts, entry.digest, out));
    if (entry.kind != snapshot::EntryKind::file) continue;
    ++out.files;
    out.size.count += entry.size;
  }
  return {};
}

Result<CollectedOutput> restore(const RestoreParts& parts) {
  parts.tell("fetching the checkpoint");
  CollectedOutput restored;
  restored.kind = OutputKind::checkpoint;
  TRY_ASSIGN(restored.tree, join(parts));
  TRY(parts.admit(*restored.tree));
  TRY(fetch_files(parts, *restored.tree));
  parts.tell("writing the checkpoint");
  TRY(io::remove_tree(parts.beside));
  snapshot::MaterializeOptions options;
  options.owner = parts.owner;
  TRY(snapshot::materialize(parts.cache, *restored.tree, parts.beside, options));
  TRY(put_in_place(parts.beside, parts.into, std::string(kCheckpointFolder), parts.owner));
  TRY(count(parts, *restored.tree, restored));
  return restored;
}

}  // namespace

Result<CollectedOutput> restore_checkpoint(const RestoreParts& parts) {
  auto restored = restore(parts);
  if (restored) return restored;
  return restored.error().within(
      fmt::format("cannot restore the checkpoint of attempt {}", parts.source.attempt));
}

}  // namespace lockstep::agent
