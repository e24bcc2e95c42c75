#include "launcher/daemon/blobs/rights.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/snapshot/content/compress.h"

namespace lockstep::launcher {

using snapshot::DigestKey;
using snapshot::key_of;

namespace {

constexpr std::size_t kMaxOwnedRemembered = 100'000;
constexpr std::size_t kMaxNotOwnedRemembered = 10'000;
constexpr std::size_t kKeysAtOnce = 65'536;
constexpr auto kErrorFor = std::chrono::minutes(1);
constexpr std::size_t kMaxShowing = 256;  // blobs that are being proved by sending, over all owners

Error not_the_blob(const Digest& digest) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("blob {}: the bytes do not match the digest", digest.hex()));
}

}  // namespace

Status BlobRights::drop_those_of_trees(const BlobOwner& owner, std::vector<DigestKey>& keys,
                                       const snapshot::Walk& walk) {
  for (const Digest& tree : owner.trees) {
    if (keys.empty()) return {};
    TRY_ASSIGN(const auto set, trees_.find(tree, walk));
    std::erase_if(keys, [&](const DigestKey& key) {
      return std::binary_search(set->keys().begin(), set->keys().end(), key);
    });
  }
  return {};
}

// Checks in parts, because others wait for the ledger.
Result<std::vector<DigestKey>> BlobRights::not_sent(const BlobOwner& owner,
                                                    const std::vector<DigestKey>& keys,
                                                    const snapshot::Pause& pause) {
  std::vector<DigestKey> others;
  for (std::size_t from = 0; from < keys.size(); from += kKeysAtOnce) {
    if (pause) TRY(pause());
    const std::size_t to = std::min(keys.size(), from + kKeysAtOnce);
    const auto some = ledger_.not_sent(owner.name, {keys.data() + from, to - from});
    others.insert(others.end(), some.begin(), some.end());
  }
  return others;
}

Result<std::vector<Digest>> BlobRights::foreign(const BlobOwner& owner,
                                                const std::vector<Digest>& digests,
                                                const snapshot::Pause& pause) {
  std::vector<DigestKey> keys;
  keys.reserve(digests.size());
  for (const Digest& digest : digests) keys.push_back(key_of(digest));
  TRY_ASSIGN(std::vector<DigestKey> others, not_sent(owner, keys, pause));
  TRY(drop_those_of_trees(owner, others, snapshot::bounded_walk(pause)));
  std::vector<Digest> found;
  if (others.empty()) return found;
  std::sort(others.begin(), others.end());
  std::copy_if(digests.begin(), digests.end(), std::back_inserter(found), [&](const Digest& one) {
    return std::binary_search(others.begin(), others.end(), key_of(one));
  });
  return found;
}

Result<bool> BlobRights::owns_tree(const BlobOwner& owner, const Digest& root,
                                   const snapshot::Pause& pause) {
  if (const auto known = known_not_owned(owner, root)) {
    if (known->error) return *known->error;
    return false;
  }
  auto why = why_not_owned(owner, root, pause);
  const bool is_of_tree = !why && (why.error().code == ErrorCode::invalid_argument ||
                                   why.error().code == ErrorCode::corrupt);
  if (is_of_tree) {
    NotOwned error;
    error.error = why.error();
    error.until = Clock::now() + kErrorFor;
    remember({owner.name, root}, std::move(error));
  }
  if (!why) return why.error();
  const bool owns = !why->has_value();
  remember({owner.name, root}, *std::move(why));
  return owns;
}

// Why a blob is not the owner's; nullopt: it is.
Result<std::optional<BlobRights::NotOwned>> BlobRights::why_not_owned(
    const BlobOwner& owner, const Digest& root, const snapshot::Pause& pause) {
  snapshot::Walk walk = snapshot::bounded_walk(pause);
  walk.most_missing = 1;
  NotOwned why;
  TRY_ASSIGN(const std::vector<Digest> missing, store_.missing_from(root, walk));
  if (!missing.empty()) {
    why.absent = missing.front();
    return std::optional(std::move(why));
  }
  if (std::find(owner.trees.begin(), owner.trees.end(), root) != owner.trees.end())
    return std::optional<NotOwned>();
  {
    const std::lock_guard guard(mutex_);
    if (owned_.count({owner.name, root}) != 0) return std::optional<NotOwned>();
  }
  TRY_ASSIGN(const auto set, trees_.find(root, walk));
  TRY_ASSIGN(std::vector<DigestKey> others, not_sent(owner, set->keys(), pause));
  TRY(drop_those_of_trees(owner, others, walk));
  if (others.empty() && set->is_whole()) return std::optional<NotOwned>();
  if (others.empty()) {
    why.until = {};  // a part of it was removed meanwhile
  } else {
    why.foreign = others.front();
    why.trees = owner.trees;
  }
  return std::optional(std::move(why));
}

// The earlier result, while it is valid.
std::optional<BlobRights::NotOwned> BlobRights::known_not_owned(const BlobOwner& owner,
                                                                const Digest& root) {
  NotOwned why;
  {
    const std::lock_guard guard(mutex_);
    const auto found = not_owned_.find({owner.name, root});
    if (found == not_owned_.end()) return std::nullopt;
    why = found->second;
  }
  if (Clock::now() >= why.until) return std::nullopt;
  if (why.absent && store_.has(*why.absent)) return std::nullopt;
  if (why.foreign && (why.trees != owner.trees || ledger_.has(owner.name, *why.foreign)))
    return std::nullopt;
  return why;
}

void BlobRights::remember(const OwnedTree& tree, std::optional<NotOwned> why) {
  const std::lock_guard guard(mutex_);
  not_owned_.erase(tree);
  if (why) {
    if (not_owned_.size() >= kMaxNotOwnedRemembered) not_owned_.clear();
    not_owned_[tree] = *std::move(why);
    return;
  }
  if (owned_.size() >= kMaxOwnedRemembered) owned_.clear();
  owned_.insert(tree);
}

Status BlobRights::sent(const BlobOwner& owner, const std::vector<Digest>& digests) {
  std::vector<DigestKey> keys;
  keys.reserve(digests.size());
  for (const Digest& digest : digests) keys.push_back(key_of(digest));
  return ledger_.add(owner.name, keys, owner.is_node);
}

Result<bool> BlobRights::shown(const BlobOwner& owner, const BlobPiece& piece) {
  TRY_ASSIGN(const std::string raw, snapshot::raw_of(piece));
  if (piece.total_size <= kMaxPieceBytes) {
    if (sha256(raw) != piece.digest) return not_the_blob(piece.digest);
    return true;
  }
  // Somebody who only guesses digests learns nothing before all pieces are sent, the same as for a
  // new blob.
  if (store_.size(piece.digest) != piece.total_size) {
    if (piece.offset + raw.size() == piece.total_size) return not_the_blob(piece.digest);
    return false;
  }
  const auto here = store_.piece(piece.digest, piece.offset);
  const auto ours = here ? snapshot::raw_of(*here) : Result<std::string>(here.error());
  const std::lock_guard guard(mutex_);
  const std::pair key{owner.name, piece.digest};
  Showing& showing = showing_of(key, piece.total_size);
  showing.is_wrong = showing.is_wrong || !ours || *ours != raw;
  const std::size_t number = piece.offset / kMaxPieceBytes;
  if (!showing.pieces[number]) --showing.open;
  showing.pieces[number] = true;
  if (showing.open > 0) return false;
  const bool is_wrong = showing.is_wrong;
  showing_.erase(key);
  if (is_wrong) return not_the_blob(piece.digest);
  return true;
}

BlobRights::Showing& BlobRights::showing_of(const std::pair<std::string, Digest>& key,
                                            std::uint64_t total_size) {
  if (showing_.size() >= kMaxShowing && showing_.count(key) == 0)
    showing_.erase(std::min_element(
        showing_.begin(), showing_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  Showing& showing = showing_[key];
  showing.used = ++uses_;
  if (showing.pieces.empty()) {
    showing.open = (total_size + kMaxPieceBytes - 1) / kMaxPieceBytes;
    showing.pieces.assign(showing.open, false);
  }
  return showing;
}

}  // namespace lockstep::launcher
