#include "common/snapshot/content/reachable.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "common/snapshot/content/walk_meter.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kFirstTidy = 1'000'000;

// A directory may name one blob a million times, so the list never grows above twice the number of
// different blobs.
class Gathered {
 public:
  Status add(const Digest& digest) {
    keys_.push_back(key_of(digest));
    if (keys_.size() < tidy_at_) return {};
    tidy();
    tidy_at_ = std::max(kFirstTidy, keys_.size() * 2);
    if (keys_.size() <= kMaxReachable) return {};
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the folder has more than {} files and folders; split it into "
                                  "several folders, or leave out files",
                                  kMaxReachable));
  }
  std::vector<DigestKey> take() {
    tidy();
    keys_.shrink_to_fit();
    return std::move(keys_);
  }

 private:
  void tidy() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }
  std::vector<DigestKey> keys_;
  std::size_t tidy_at_ = kFirstTidy;
};

}  // namespace

DigestKey key_of(const Digest& digest) {
  DigestKey key;
  std::copy_n(digest.bytes.begin(), key.size(), key.begin());
  return key;
}

bool Reachable::has(const Digest& digest) const {
  return std::binary_search(keys_.begin(), keys_.end(), key_of(digest));
}

Result<Reachable> reachable_from(const BlobStore& store, const Digest& root, const Walk& walk) {
  Gathered all;
  bool is_whole = true;
  std::unordered_set<Digest> seen{root};
  std::vector<std::pair<Digest, int>> open{{root, 0}};
  TRY(all.add(root));
  WalkMeter meter(walk);
  while (!open.empty()) {
    const Digest next = open.back().first;
    const int depth = open.back().second;
    open.pop_back();
    const auto bytes = meter.read(store, next, depth);
    if (!bytes) {
      const ErrorCode code = bytes.error().code;
      if (code != ErrorCode::not_found && code != ErrorCode::corrupt) return bytes.error();
      is_whole = false;
      continue;
    }
    // Only a valid directory object names other blobs. Any other blob counts as one.
    if (!each_entry(*bytes, [](const Entry&) { return true; })) continue;
    Status added;
    (void)each_entry(*bytes, [&](const Entry& entry) {
      added = meter.entry();
      if (!added || entry.kind == EntryKind::symlink) return bool(added);
      added = all.add(entry.digest);
      if (entry.kind == EntryKind::directory && seen.insert(entry.digest).second)
        open.emplace_back(entry.digest, depth + 1);
      return bool(added);
    });
    TRY(std::move(added));
  }
  return Reachable(all.take(), is_whole);
}

ReachableTrees::Set ReachableTrees::known(const Digest& root) {
  const std::lock_guard guard(mutex_);
  const auto found = known_.find(root);
  if (found == known_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second.place);
  return found->second.set;
}

Result<ReachableTrees::Set> ReachableTrees::find(const Digest& root, const Walk& walk) {
  if (Set set = known(root)) return set;
  TRY_ASSIGN(Reachable walked, reachable_from(store_, root, walk));
  auto set = std::make_shared<const Reachable>(std::move(walked));
  if (!set->is_whole()) return Set(set);  // more of the set may arrive
  const std::lock_guard guard(mutex_);
  if (known_.count(root) != 0) return Set(set);
  by_use_.push_front(root);
  known_[root] = {set, by_use_.begin()};
  bytes_ += set->bytes();
  while (bytes_ > most_bytes_ && by_use_.size() > 1) {
    const auto oldest = known_.find(by_use_.back());
    bytes_ -= oldest->second.set->bytes();
    known_.erase(oldest);
    by_use_.pop_back();
  }
  return Set(set);
}

std::size_t ReachableTrees::bytes() const {
  const std::lock_guard guard(mutex_);
  return bytes_;
}

}  // namespace lockstep::snapshot
