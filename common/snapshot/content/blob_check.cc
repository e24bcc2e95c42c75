#include "common/snapshot/content/blob_check.h"

#include <cstdio>

#include "common/io/disk.h"
#include "common/snapshot/content/blob_store_impl.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

Result<std::unique_ptr<BlobCheck>> BlobCheck::open(const std::string& root) {
  TRY_ASSIGN(auto store, BlobStore::open(root, BlobStore::Mode::look));
  return std::unique_ptr<BlobCheck>(new BlobCheck(std::move(store)));
}

Status BlobCheck::read(const Digest& digest,
                       const std::function<void(std::string_view)>& take) const {
  Sha256 hash;
  std::uint64_t offset = 0, total = 0;
  do {
    TRY_ASSIGN(const BlobPiece piece, store_->impl_->piece(digest, offset));
    TRY_ASSIGN(const std::string raw, raw_of(piece));
    total = piece.total_size;
    hash.update(raw);
    take(raw);
    offset += kMaxPieceBytes;
  } while (offset < total);
  if (hash.finish() == digest) return {};
  return make_error(ErrorCode::corrupt, "its contents do not match its digest");
}

Status BlobCheck::check(const Digest& tree, const std::function<void(const BadBlob&)>& bad) {
  struct Open {
    Digest digest;
    std::string path;
    bool directory = true;
  };
  std::vector<Open> open{{tree, "", true}};
  while (!open.empty()) {
    const Open next = std::move(open.back());
    open.pop_back();
    if (!seen_.insert(next.digest).second) continue;
    std::string bytes;
    const Status sound = read(next.digest, [&](std::string_view part) {
      if (next.directory) bytes += part;
    });
    if (!sound && sound.error().code == ErrorCode::io) return sound;
    auto directory = sound && next.directory ? decode_directory(bytes) : Directory{};
    if (!sound || !directory) {
      const Error& error = sound ? directory.error() : sound.error();
      bad({next.digest, next.path, error.code == ErrorCode::not_found, error.message});
      continue;
    }
    for (const Entry& entry : directory->entries) {
      if (entry.kind == EntryKind::symlink) continue;
      open.push_back({entry.digest, next.path.empty() ? entry.name : next.path + "/" + entry.name,
                      entry.kind == EntryKind::directory});
    }
  }
  return {};
}

Result<std::vector<Digest>> BlobCheck::others() const {
  TRY_ASSIGN(std::vector<Digest> all, store_->list());
  std::erase_if(all, [this](const Digest& digest) { return seen_.count(digest) != 0; });
  return all;
}

Result<std::vector<std::string>> BlobCheck::leftovers() const {
  const std::string folder = store_->impl_->root + "/tmp";
  if (!io::exists(folder)) return std::vector<std::string>();
  TRY_ASSIGN(std::vector<std::string> names, io::list_directory(folder));
  for (std::string& name : names) name = folder + "/" + name;
  return names;
}

Result<std::string> BlobCheck::move_aside(const Digest& digest) {
  BlobStore::Impl& impl = *store_->impl_;
  TRY(io::make_directories(impl.root + "/bad", 0700));
  const std::string to = impl.root + "/bad/" + digest.hex();
  const auto packed = impl.packs->read(digest);
  if (packed) {
    TRY(io::write_file_atomically(to, packed->data, 0600));
    TRY(impl.packs->expel({digest}));
    return to;
  }
  const std::string from = impl.file_of(digest);
  if (io::disk::rename(from.c_str(), to.c_str()) != 0) {
    return errno_error(errno, fmt::format("cannot move {} to {}", from, to));
  }
  return to;
}

Result<std::uint64_t> BlobCheck::clean() {
  TRY_ASSIGN(const std::vector<Digest> orphans, others());
  std::uint64_t bytes = 0;
  for (const Digest& digest : orphans) bytes += store_->impl_->remove(digest);
  TRY_ASSIGN(const std::uint64_t reclaimed, store_->impl_->packs->reclaim());
  TRY(io::remove_tree(store_->impl_->root + "/tmp"));
  return bytes + reclaimed;
}

}  // namespace lockstep::snapshot
