#include "launcher/daemon/blobs/blob_server.h"

#include <functional>
#include <utility>

#include "common/snapshot/content/stored_size.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/tree_difference.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxSizesRemembered = 10'000;

Result<snapshot::Subtree> find_in(snapshot::BlobStore& store, const TreeQuestion& question,
                                  const FairWorkers::Pause& pause) {
  const snapshot::DirectoryObjects objects = directory_objects(store, pause);
  std::vector<snapshot::Beside> beside;
  TRY_ASSIGN(const Digest root, snapshot::merge_trees(question.trees, objects, beside));
  TRY_ASSIGN(snapshot::Subtree found, snapshot::subtree(root, question.path, objects));
  store.lease(found.root);
  return found;
}

}  // namespace

template <typename Value>
void BlobService::walk(const std::string& principal,
                       std::function<Result<Value>(const FairWorkers::Pause&)> work,
                       std::function<void(Result<Value>)> then) {
  const auto tell = [this, then = std::move(then)](Result<Value> result) {
    loop_.post([then, result = std::move(result)] { then(result); });
  };
  const Status taken = users_.walkers.run(
      principal,
      [tell, work = std::move(work)](const FairWorkers::Pause& pause) { tell(work(pause)); });
  if (!taken) tell(taken.error());
}

void BlobService::check(const std::string& principal, BlobOwner owner, const Digest& root,
                        std::function<void(Result<bool>)> then) {
  const Check check{owner.name, root, owner.trees};
  const auto [under_way, is_new] = checks_.try_emplace(check);
  under_way->second.push_back(std::move(then));
  if (!is_new) return;
  const auto done = [this, check](const Result<bool>& owns) {
    const auto asked = checks_.extract(check);
    for (const auto& answer : asked.mapped()) answer(owns);
  };
  const bool is_node = owner.is_node;
  auto work = [this, owner = std::move(owner), root, done](const FairWorkers::Pause& pause) {
    using Why = snapshot::BlobStore::Why;
    store_.lease(root, owner.is_node ? Why::reported : Why::asked);
    loop_.post([done, owns = rights_.owns_tree(owner, root, pause)] { done(owns); });
  };
  // A node's reports are limited before (ReportCheck), and blobs that they name must not get lost.
  if (is_node) return nodes_.walkers.run_anyway(principal, std::move(work));
  const Status taken = users_.walkers.run(principal, std::move(work));
  if (!taken) loop_.post([done, error = taken.error()] { done(error); });
}

void BlobService::find_tree(const std::string& principal, TreeQuestion question,
                            std::function<void(Result<snapshot::Subtree>)> then) {
  walk<snapshot::Subtree>(
      principal,
      [this, question = std::move(question)](const FairWorkers::Pause& pause) {
        return find_in(store_, question, pause);
      },
      std::move(then));
}

void BlobService::compare(const std::string& principal, std::vector<PartChange> changes,
                          std::function<void(std::vector<PartChange>)> then) {
  const auto compared = [this, changes](const FairWorkers::Pause& pause) {
    const auto read = directory_objects(store_, pause).read;
    std::vector<PartChange> filled = changes;
    for (PartChange& change : filled) {
      if (!change.was && !change.is) continue;
      if (auto files = snapshot::tree_difference(change.was, change.is, read))
        change.files = *std::move(files);
    }
    return Result<std::vector<PartChange>>(std::move(filled));
  };
  walk<std::vector<PartChange>>(
      principal, compared,
      [then = std::move(then), changes](const Result<std::vector<PartChange>>& filled) {
        then(filled ? *filled : changes);
      });
}

void BlobService::merge(const std::string& principal, MergeOutputs question,
                        std::function<void(Result<MergedTrees>)> then) {
  users_.walkers.run_anyway(principal, [this, question = std::move(question),
                                        then = std::move(then)](const FairWorkers::Pause& pause) {
    auto merged = merge_outputs(store_, question, pause);
    loop_.post([then, merged = std::move(merged)] { then(merged); });
  });
}

void BlobService::measure(const std::string& principal, const Digest& root,
                          std::function<void(Result<Bytes>)> then) {
  // The same source is often submitted again.
  if (const auto known = sizes_.find(root); known != sizes_.end())
    return loop_.post([then = std::move(then), size = known->second] { then(size); });
  walk<Bytes>(
      principal,
      [this, root](const FairWorkers::Pause& pause) {
        return snapshot::stored_size(store_, root, snapshot::bounded_walk(pause));
      },
      [this, root, then = std::move(then)](const Result<Bytes>& size) {
        if (sizes_.size() >= kMaxSizesRemembered) sizes_.clear();
        if (size) sizes_[root] = *size;
        then(size);
      });
}

}  // namespace lockstep::launcher
