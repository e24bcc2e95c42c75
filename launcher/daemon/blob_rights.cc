#include "launcher/daemon/blob_rights.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/snapshot/compress.h"

namespace lockstep::launcher {

using snapshot::DigestKey;
using snapshot::key_of;

namespace {

constexpr std::size_t kMaxOwnedRemembered = 100'000;
constexpr std::size_t kMaxShowing = 256;  // blobs that are half shown, over all owners

Error not_the_blob(const Digest& digest) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("blob {}: the bytes do not match the digest", digest.hex()));
}

}  // namespace

Status BlobRights::drop_those_of_trees(const BlobOwner& owner, std::vector<DigestKey>& keys) {
  for (const Digest& tree : owner.trees) {
    if (keys.empty()) return {};
    TRY_ASSIGN(const auto set, trees_.find(tree));
    std::erase_if(keys, [&](const DigestKey& key) {
      return std::binary_search(set->keys().begin(), set->keys().end(), key);
    });
  }
  return {};
}

Result<std::vector<Digest>> BlobRights::foreign(const BlobOwner& owner,
                                                const std::vector<Digest>& digests) {
  std::vector<DigestKey> keys;
  keys.reserve(digests.size());
  for (const Digest& digest : digests) keys.push_back(key_of(digest));
  std::vector<DigestKey> others = ledger_.not_sent(owner.name, keys);
  TRY(drop_those_of_trees(owner, others));
  std::vector<Digest> found;
  if (others.empty()) return found;
  std::sort(others.begin(), others.end());
  std::copy_if(digests.begin(), digests.end(), std::back_inserter(found), [&](const Digest& one) {
    return std::binary_search(others.begin(), others.end(), key_of(one));
  });
  return found;
}

Result<bool> BlobRights::owns_tree(const BlobOwner& owner, const Digest& root) {
  TRY_ASSIGN(const std::vector<Digest> missing, store_.missing_from(root));
  if (!missing.empty()) return false;
  if (std::find(owner.trees.begin(), owner.trees.end(), root) != owner.trees.end()) return true;
  {
    const std::lock_guard guard(mutex_);
    if (owned_.count({owner.name, root}) != 0) return true;
  }
  TRY_ASSIGN(const auto set, trees_.find(root));
  std::vector<DigestKey> others = ledger_.not_sent(owner.name, set->keys());
  TRY(drop_those_of_trees(owner, others));
  if (!others.empty() || !set->is_whole()) return false;
  const std::lock_guard guard(mutex_);
  if (owned_.size() >= kMaxOwnedRemembered) owned_.clear();
  owned_.insert({owner.name, root});
  return true;
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
  // Whoever only tries learns nothing before all pieces are sent, as with a blob that is new.
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
