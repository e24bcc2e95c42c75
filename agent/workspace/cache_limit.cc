#include "agent/workspace/cache_limit.h"

#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "common/snapshot/content/blob_gc.h"
#include "common/snapshot/content/disk_usage.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {
namespace {

// The trees that parts on this node were staged from.
Result<std::set<std::string>> trees_in_use(const std::string& attempts) {
  std::set<std::string> paths;
  if (attempts.empty() || !io::exists(attempts)) return paths;
  TRY_ASSIGN(const auto names, io::list_directory(attempts));
  for (const std::string& name : names) {
    const auto bytes = io::read_file(io::AttemptDir(attempts + "/" + name).workspace());
    const auto plan = bytes ? wire::decode_workspace_plan(*bytes) : Result<WorkspacePlan>(Error{});
    if (plan && !plan->tree.empty()) paths.insert(plan->tree);
    if (!plan) continue;
    for (const StagedInput& input : plan->inputs) paths.insert(input.tree);
  }
  return paths;
}

}  // namespace

Status BlobCacheLimit::keep() {
  if (limit_.size.count == 0) return {};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  for (bool any = true; any;) {
    TRY_ASSIGN(const std::uint64_t now, snapshot::disk_usage(folder_));
    if (now <= limit_.size.count) return {};
    TRY(remove_oldest(now - limit_.size.count, &any));
    TRY(collect_blobs());
    if (any) continue;
    TRY_ASSIGN(const std::uint64_t left, snapshot::disk_usage(folder_));
    if (left > limit_.size.count)
      spdlog::warn("the cache {} takes {}, more than --cache-size {}, but all of it is in use",
                   folder_, to_string(Bytes{left}), to_string(limit_.size));
  }
  return {};
}

Status BlobCacheLimit::free(Bytes wanted) {
  // Without a folder of attempts it is not known which trees are in use.
  if (limit_.attempts.empty()) return {};
  const std::lock_guard lock(mutex_);
  bool any = false;
  TRY(remove_oldest(wanted.count, &any));
  return any ? collect_blobs() : Status();
}

// Removes trees until about this many bytes are freed. `any`: whether one was removed.
Status BlobCacheLimit::remove_oldest(std::uint64_t bytes, bool* any) {
  *any = false;
  TRY_ASSIGN(auto trees, trees_.list());
  TRY_ASSIGN(const auto in_use, trees_in_use(limit_.attempts));
  std::sort(trees.begin(), trees.end(),
            [](const auto& a, const auto& b) { return a.last_used < b.last_used; });
  std::uint64_t removed = 0;
  for (const auto& tree : trees) {
    if (removed >= bytes) return {};
    if (in_use.count(tree.found_as) != 0) continue;
    TRY_ASSIGN(const std::uint64_t size, snapshot::disk_usage(tree.path));
    TRY_ASSIGN(const bool gone, trees_.remove_unless_used(tree, limit_.in_use_for));
    if (!gone) continue;
    *any = true;
    removed += size;
    spdlog::info("removed the source tree {} from the cache ({}): least recently used",
                 tree.root.hex().substr(0, 12), to_string(Bytes{size}));
  }
  return {};
}

Status BlobCacheLimit::collect_blobs() {
  TRY_ASSIGN(const auto trees, trees_.list());
  std::vector<Digest> roots;
  for (const auto& tree : trees) roots.push_back(tree.root);
  snapshot::BlobCollection collection(blobs_, limit_.in_use_for,
                                      snapshot::BlobCollection::SinceOpened::no);
  TRY(collection.mark(roots));
  TRY_ASSIGN(const std::size_t condemned, collection.condemn());
  if (condemned == 0) return {};
  TRY_ASSIGN(const auto again, trees_.list());
  roots.clear();
  for (const auto& tree : again) roots.push_back(tree.root);
  TRY(collection.spare(roots));
  TRY_ASSIGN(const auto collected, collection.sweep());
  spdlog::info("removed {} files from the cache ({})", collected.blobs,
               to_string(Bytes{collected.bytes}));
  return {};
}

Result<Bytes> default_cache_size(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return errno_error(errno, "cannot statvfs " + path);
  return Bytes{static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize / 4};
}

}  // namespace lockstep::agent
