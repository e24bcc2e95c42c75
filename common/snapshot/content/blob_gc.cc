#include "common/snapshot/content/blob_gc.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/disk.h"
#include "common/snapshot/content/blob_store_impl.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

// ---- what the store knows -----------------------------------------------------------------------

bool BlobStore::Impl::is_condemned(const Digest& digest) {
  std::lock_guard guard(gc_mutex);
  return condemned.count(digest) != 0;
}

bool BlobStore::Impl::spare(const Digest& digest) {
  std::lock_guard guard(gc_mutex);
  return condemned.erase(digest) != 0;
}

void BlobStore::Impl::touch(const Digest& digest, Lease lease, Asker asker) {
  std::lock_guard guard(gc_mutex);
  Touched& entry = touched[digest];
  const auto now = std::chrono::steady_clock::now();
  if (asker != 0 && (entry.asker == 0 || entry.asker == asker)) {
    entry.asker = asker;
    entry.by_asker = now;
    return;
  }
  (lease == Lease::lasting ? entry.lasting : entry.brief) = now;
}

void BlobStore::Impl::has_come(const Digest& digest) {
  std::lock_guard guard(gc_mutex);
  touched[digest].has_come = true;
}

void BlobStore::lease(const Digest& root, Why why) {
  std::lock_guard guard(impl_->gc_mutex);
  LeasedTree& tree = impl_->leased_trees[root];
  (why == Why::asked ? tree.asked : tree.reported) = std::chrono::steady_clock::now();
}

std::uint64_t BlobStore::Impl::remove(const Digest& digest) {
  packs->drop(digest);
  const std::string path = file_of(digest);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || io::disk::unlink(path.c_str()) != 0)
    return remove_whole(digest);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

// ---- a collection -------------------------------------------------------------------------------

BlobCollection::~BlobCollection() {
  std::lock_guard guard(store_.impl_->gc_mutex);
  store_.impl_->condemned.clear();
}

bool BlobCollection::is_leased(std::optional<SteadyTime> touched, Duration lease) const {
  return touched && std::chrono::steady_clock::now() - *touched < lease;
}

// Calls each(digest) for everything below the trees. Below directories for which it returns false,
// nothing is visited.
template <typename Each>
Status BlobCollection::walk(const std::vector<Digest>& trees, Each each) {
  std::vector<Digest> open = trees;
  while (!open.empty()) {
    if (stopped_) return make_error(ErrorCode::unavailable, "the collection was stopped");
    const Digest digest = open.back();
    open.pop_back();
    if (!each(digest)) continue;
    const auto bytes = store_.get(digest, {kMaxDirectoryObjectBytes});
    const bool missing = !bytes && (bytes.error().code == ErrorCode::not_found ||
                                    bytes.error().code == ErrorCode::corrupt);
    if (missing) continue;
    if (!bytes) return bytes.error();
    const auto directory = decode_directory(*bytes);
    if (!directory) continue;  // a file that was named as a tree
    for (const Entry& entry : directory->entries) {
      if (entry.kind == EntryKind::directory) open.push_back(entry.digest);
      if (entry.kind == EntryKind::file) (void)each(entry.digest);
    }
  }
  return {};
}

Status BlobCollection::mark(const std::vector<Digest>& trees) {
  return walk(trees, [this](const Digest& digest) { return live_.insert(digest).second; });
}

void BlobCollection::release(std::vector<Released> trees) { released_ = std::move(trees); }

// Finds which blobs belong to released trees, and to which job. Marked blobs were visited before.
Status BlobCollection::walk_released() {
  for (const Released& one : released_) {
    TRY(walk({one.tree}, [&](const Digest& digest) {
      if (live_.count(digest) != 0) return false;
      const auto [known, is_new] = released_blobs_.emplace(digest, one);
      if (!is_new && known->second.at >= one.at) return false;
      known->second = one;
      return true;
    }));
  }
  return {};
}

bool BlobCollection::is_tree_leased(const LeasedTree& tree) const {
  return is_leased(tree.asked, leases_.brief) || is_leased(tree.reported, leases_.brief);
}

// Whether a blob is kept for its asker: the job may name it again soon.
bool BlobCollection::is_kept_for_asker(const Digest& digest, const Touched& touched) const {
  const auto released = released_blobs_.find(digest);
  const bool is_released = released != released_blobs_.end() &&
                           released->second.asker == touched.asker &&
                           touched.by_asker <= released->second.at;
  return is_leased(touched.by_asker,
                   is_released ? std::min(leases_.released, leases_.lasting) : leases_.lasting);
}

// The leased trees. A report that came before a tree's release does not keep it.
std::vector<Digest> BlobCollection::leased_trees() {
  std::vector<Digest> leased;
  std::lock_guard guard(store_.impl_->gc_mutex);
  auto& trees = store_.impl_->leased_trees;
  for (const Released& one : released_)
    if (const auto found = trees.find(one.tree);
        found != trees.end() && found->second.reported <= one.at)
      found->second.reported.reset();
  for (const auto& [tree, when] : trees)
    if (is_tree_leased(when)) leased.push_back(tree);
  return leased;
}

void BlobCollection::condemn_unleased(const std::vector<Digest>& all) {
  BlobStore::Impl& impl = *store_.impl_;
  std::lock_guard guard(impl.gc_mutex);
  const auto is_touched = [&](const Touched& touched) {
    return is_leased(touched.lasting, leases_.lasting) || is_leased(touched.brief, leases_.brief) ||
           is_leased(touched.by_asker, leases_.lasting);
  };
  const bool fresh = since_opened_ == SinceOpened::yes && is_leased(impl.opened_at, leases_.opened);
  for (const Digest& digest : all) {
    const auto known = impl.touched.find(digest);
    if (live_.count(digest) > 0) continue;
    if (known == impl.touched.end()) {
      if (!fresh) impl.condemned.insert(digest);
      continue;
    }
    const Touched& touched = known->second;
    const bool is_lasting = is_leased(touched.lasting, leases_.lasting);
    const bool is_brief = is_leased(touched.brief, leases_.brief);
    const bool is_askers = is_kept_for_asker(digest, touched);
    const bool stays = is_lasting || is_brief || is_askers || (fresh && !touched.has_come);
    if (!stays) impl.condemned.insert(digest);
    const bool is_released = released_blobs_.count(digest) != 0;
    more_soon_ = more_soon_ || (!is_lasting && (is_brief || (is_askers && is_released)));
  }
  // While leases from the opening count, blobs that have come since then stay in the list.
  std::erase_if(impl.touched, [&](const auto& item) {
    return !is_touched(item.second) && !(fresh && item.second.has_come);
  });
  std::erase_if(impl.leased_trees, [&](const auto& item) { return !is_tree_leased(item.second); });
}

Result<std::size_t> BlobCollection::condemn() {
  const std::vector<Digest> leased = leased_trees();
  more_soon_ = !leased.empty();
  TRY(mark(leased));
  TRY(walk_released());
  TRY_ASSIGN(const std::vector<Digest> all, store_.list());
  BlobStore::Impl& impl = *store_.impl_;
  condemn_unleased(all);
  impl.distrust();
  std::lock_guard guard(impl.gc_mutex);
  return impl.condemned.size();
}

Status BlobCollection::spare(const std::vector<Digest>& trees) {
  std::vector<Digest> now = trees;
  {
    std::lock_guard guard(store_.impl_->gc_mutex);
    for (const auto& [tree, when] : store_.impl_->leased_trees) now.push_back(tree);
  }
  // Live trees were visited before, and are complete.
  return walk(now, [this](const Digest& digest) {
    if (!live_.insert(digest).second) return false;
    (void)store_.impl_->spare(digest);
    return true;
  });
}

Result<Collected> BlobCollection::sweep() {
  BlobStore::Impl& impl = *store_.impl_;
  std::vector<Digest> doomed;
  {
    std::lock_guard guard(impl.gc_mutex);
    doomed.assign(impl.condemned.begin(), impl.condemned.end());
  }
  Collected collected;
  for (const Digest& digest : doomed) {
    // A sender finds the blob spared before this, or missing after it.
    std::lock_guard guard(impl.gc_mutex);
    if (stopped_) return make_error(ErrorCode::unavailable, "the collection was stopped");
    if (impl.condemned.count(digest) == 0) continue;
    collected.bytes += impl.remove(digest);
    ++collected.blobs;
    impl.condemned.erase(digest);
  }
  {
    std::lock_guard guard(impl.write_mutex);
    std::erase_if(impl.uploads, [&](const auto& item) {
      const Upload& upload = item.second;
      const bool brief = upload.lease == Lease::brief;
      const bool stays = is_leased(upload.last, brief ? leases_.brief : leases_.lasting);
      more_soon_ = more_soon_ || (stays && brief);
      return !stays;
    });
  }
  TRY_ASSIGN(const std::uint64_t reclaimed, impl.packs->reclaim());
  collected.bytes += reclaimed;
  collected.more_soon = more_soon_;
  return collected;
}

}  // namespace lockstep::snapshot
