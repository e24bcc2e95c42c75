#include "common/snapshot/content/blob_pack.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "common/io/disk.h"
#include "common/snapshot/content/pack_record.h"

namespace lockstep::snapshot {

namespace {

// The least number of bytes that are worth it; commit marks take some.
constexpr std::uint64_t kLeastReclaimed = 16u << 10;

}  // namespace

std::vector<PackSet::Sparse> PackSet::sparse_packs() const {
  std::shared_lock lock(index_mutex_);
  std::vector<std::uint64_t> of_use(packs_.size(), 0);
  for (const auto& [digest, location] : index_)
    of_use[location.pack] += sizeof(RecordHeader) + location.stored_size;
  std::vector<Sparse> sparse;
  for (std::size_t i = 0; i < packs_.size(); ++i) {
    struct stat info {};
    if (!packs_[i].fd || ::fstat(packs_[i].fd->get(), &info) != 0) continue;
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t useless = bytes - std::min(bytes, of_use[i]);
    if (useless >= kLeastReclaimed && useless >= bytes / 4) sparse.push_back({i, bytes});
  }
  // Packs that need the least space come first: on a full disk they make room for the others.
  std::sort(sparse.begin(), sparse.end(),
            [&](const Sparse& a, const Sparse& b) { return of_use[a.pack] < of_use[b.pack]; });
  return sparse;
}

Result<std::uint64_t> PackSet::reclaim() {
  std::uint64_t freed = 0;
  for (const Sparse& sparse : sparse_packs()) {
    const auto moved = rewrite(sparse.pack);
    if (!moved && freed > 0) break;  // the rest is retried at the next collection
    if (!moved) return moved.error();
    freed += sparse.bytes - std::min(sparse.bytes, *moved);
  }
  return freed;
}

Status PackSet::expel(const std::vector<Digest>& digests) {
  std::set<std::size_t> packs;
  {
    std::shared_lock lock(index_mutex_);
    for (const Digest& digest : digests)
      if (const auto it = index_.find(digest); it != index_.end()) packs.insert(it->second.pack);
  }
  for (const Digest& digest : digests) drop(digest);
  for (const std::size_t pack : packs) TRY(rewrite(pack));
  return {};
}

Result<std::uint64_t> PackSet::rewrite(std::size_t number) {
  {
    std::lock_guard lock(append_mutex_);
    if (number + 1 == packs_.size()) TRY(start_pack());
  }
  std::uint64_t cut_backs = 0;
  {
    std::lock_guard lock(append_mutex_);
    cut_backs = cut_backs_;
  }
  Moved moved;
  Status done = move_out(number, &moved);
  if (done) done = sync();  // synced before the only other copy is removed
  {
    std::lock_guard lock(append_mutex_);
    if (done && cut_backs_ != cut_backs)
      done = make_error(ErrorCode::io, "the blobs that were moved out of " + packs_[number].path +
                                           " could not be made durable");
  }
  if (!done) {
    put_back(moved);
    return done.error();
  }
  std::uint64_t bytes = 0;
  for (const auto& [digest, location] : moved) bytes += sizeof(RecordHeader) + location.stored_size;
  std::unique_lock lock(index_mutex_);
  Pack& pack = packs_[number];
  if (io::disk::unlink(pack.path.c_str()) != 0)
    return errno_error(errno, "cannot remove " + pack.path);
  pack.fd.reset();
  return bytes;
}

// Restores the index: a pack that stays still has these blobs, whatever happened to their copies.
void PackSet::put_back(const Moved& moved) {
  std::unique_lock lock(index_mutex_);
  for (const auto& [digest, location] : moved) index_[digest] = location;
}

Status PackSet::move_out(std::size_t pack, Moved* moved) {
  Moved of_use;
  {
    std::shared_lock lock(index_mutex_);
    for (const auto& [digest, location] : index_)
      if (location.pack == pack) of_use.emplace_back(digest, location);
  }
  for (const auto& [digest, location] : of_use) {
    const auto blob = read(digest);
    // The blob was dropped meanwhile.
    if (!blob && blob.error().code == ErrorCode::not_found) continue;
    if (!blob) return blob.error();
    std::lock_guard lock(append_mutex_);
    TRY_ASSIGN(const Location copy,
               write_record(digest, blob->raw_size, blob->compressed, blob->data));
    std::unique_lock index_lock(index_mutex_);
    const auto found = index_.find(digest);
    if (found == index_.end()) continue;
    found->second = copy;
    moved->emplace_back(digest, location);
  }
  return {};
}

void PackSet::drop(const Digest& digest) {
  std::unique_lock lock(index_mutex_);
  index_.erase(digest);
}

}  // namespace lockstep::snapshot
