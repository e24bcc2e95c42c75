#include "common/snapshot/content/blob_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/version_file.h"
#include "common/snapshot/content/blob_store_impl.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::snapshot {
namespace {

std::uint64_t pieces_of(std::uint64_t total_size) {
  return total_size == 0 ? 1 : (total_size + kMaxPieceBytes - 1) / kMaxPieceBytes;
}

Error wrong_digest(const Digest& digest) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("blob {}: the bytes do not match the digest", digest.hex()));
}

}  // namespace

BlobStore::BlobStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BlobStore::~BlobStore() = default;

Result<std::unique_ptr<BlobStore>> BlobStore::open(const std::string& root, Mode mode) {
  auto impl = std::make_unique<Impl>();
  impl->root = root;
  TRY(io::make_directories(root, 0700));
  TRY_ASSIGN(impl->lock, io::FileLock::try_acquire(root + "/lock"));
  if (!impl->lock) {
    return make_error(ErrorCode::conflict,
                      fmt::format("the blob store {} is in use by another process", root));
  }
  TRY(io::expect_version(root + "/version", kBlobStoreVersion, "blob store"));
  impl->is_cache = mode == Mode::cache;
  if (mode != Mode::look) {
    TRY(io::record_version(root + "/version", kBlobStoreVersion));
    TRY(io::remove_tree(root + "/tmp"));
    TRY(io::make_directories(root + "/tmp", 0700));
  }
  TRY_ASSIGN(impl->packs, PackSet::open(root + "/packs", mode != Mode::look));
  if (impl->is_cache) TRY(impl->open_cache());
  return std::unique_ptr<BlobStore>(new BlobStore(std::move(impl)));
}

bool BlobStore::Impl::on_disk(const Digest& digest) {
  return packs->has(digest) || has_whole(digest) || ::access(file_of(digest).c_str(), F_OK) == 0;
}

bool BlobStore::has(const Digest& digest) const {
  return !impl_->is_condemned(digest) && impl_->on_disk(digest);
}

std::optional<std::uint64_t> BlobStore::size(const Digest& digest) const {
  if (const auto packed = impl_->packs->size(digest)) return packed;
  const auto file = impl_->open_file(digest);
  if (!file) return std::nullopt;
  return file->total_size();
}

Result<std::vector<Digest>> BlobStore::list() const {
  std::vector<Digest> all = impl_->packs->digests();
  TRY_ASSIGN(const std::vector<std::string> folders, io::list_directory(impl_->root));
  for (const std::string& folder : folders) {
    if (folder.size() != 2) continue;  // skips packs, tmp and lock
    TRY_ASSIGN(const std::vector<std::string> names,
               io::list_directory(impl_->root + "/" + folder));
    for (const std::string& name : names)
      if (const auto digest = Digest::from_hex(folder + name.substr(0, name.find('.'))))
        all.push_back(*digest);
  }
  return all;
}

// ---- writing -----------------------------------------------------------------------------------

Status BlobStore::put(const Digest& digest, std::string_view raw) {
  impl_->touch(digest);
  if (impl_->spare(digest) || impl_->on_disk(digest)) return {};
  if (raw.size() > kPackedBytes) return impl_->put_large(digest, raw);
  if (sha256(raw) != digest) return wrong_digest(digest);
  const auto frame = compress_if_smaller(raw);
  return impl_->packs->append(digest, static_cast<std::uint32_t>(raw.size()), frame.has_value(),
                              frame ? std::string_view(*frame) : raw);
}

Status BlobStore::Impl::put_large(const Digest& digest, std::string_view raw) {
  std::lock_guard guard(write_mutex);
  TRY_ASSIGN(const std::unique_ptr<BlobFileWriter> file, new_file(digest, raw.size()));
  for (std::uint64_t offset = 0; offset < raw.size(); offset += kMaxPieceBytes) {
    const auto part = raw.substr(offset, piece_length(raw.size(), offset));
    TRY(file->add(make_piece(digest, raw.size(), offset, part)));
  }
  TRY(file->finish());
  return move_into_place(digest, *file);
}

Result<bool> BlobStore::put_piece(const BlobPiece& piece, std::string_view uploader, Lease lease,
                                  Asker asker) {
  auto put = impl_->take_piece(piece, uploader, lease, asker);
  if (put) return put;
  return impl_->named(std::move(put).error());
}

namespace {

std::string_view remedy(std::string_view cause) {
  if (cause == std::strerror(ENOSPC) || cause == std::strerror(EDQUOT)) return "free space there";
  if (cause == std::strerror(EMFILE)) return "raise this program's limit of open files (ulimit -n)";
  if (cause == std::strerror(ENFILE))
    return "raise the machine's limit of open files (fs.file-max)";
  if (cause == std::strerror(EROFS)) return "repair that disk and mount it writable";
  if (cause == std::strerror(EACCES) || cause == std::strerror(EPERM))
    return "give this program's user the right to write there";
  return "repair that disk";
}

}  // namespace

// Puts the store's name before an error of the disk. It tells the cause, not the file: each try
// uses another file name, and the message for waiting users should stay the same.
Error BlobStore::Impl::named(Error error) const {
  const bool is_of_disk =
      error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::io ||
      error.code == ErrorCode::permission_denied || error.code == ErrorCode::not_found;
  const auto cause = error.message.rfind(": ");
  if (is_of_disk && cause != std::string::npos)
    error.message = not_written(error.message.substr(cause + 2));
  return error;
}

std::string BlobStore::Impl::not_written(std::string_view cause) const {
  return fmt::format("cannot write into {}: {}; {}", root, cause, remedy(cause));
}

std::string BlobStore::no_space() const { return impl_->not_written(std::strerror(ENOSPC)); }

Result<bool> BlobStore::Impl::take_piece(const BlobPiece& piece, std::string_view uploader,
                                         Lease lease, Asker asker) {
  touch(piece.digest, lease, asker);
  if (spare(piece.digest) || on_disk(piece.digest)) return true;
  if (piece.total_size > kPackedBytes) return add_to_upload(piece, uploader, lease);
  thread_local std::string scratch;
  TRY_ASSIGN(const std::string_view raw, raw_view(piece, scratch));
  if (sha256(raw) != piece.digest) return wrong_digest(piece.digest);
  TRY(packs->append(piece.digest, static_cast<std::uint32_t>(raw.size()), piece.compressed,
                    piece.data));
  has_come(piece.digest);
  return true;
}

Result<bool> BlobStore::Impl::add_to_upload(const BlobPiece& piece, std::string_view uploader,
                                            Lease lease) {
  std::lock_guard guard(write_mutex);
  const std::pair key{std::string(uploader), piece.digest};
  auto found = uploads.find(key);
  if (found == uploads.end()) {
    if (uploads.size() >= kMaxOpenUploads) {
      // Drops the upload that was silent for longest. Its client notices with its last question,
      // and sends the blob again.
      uploads.erase(std::min_element(uploads.begin(), uploads.end(), [](auto& a, auto& b) {
        return a.second.touched < b.second.touched;
      }));
    }
    TRY_ASSIGN(std::unique_ptr<BlobFileWriter> file, new_file(piece.digest, piece.total_size));
    found = uploads.emplace(key, Upload{std::move(file)}).first;
  }
  found->second.touched = ++touch_count;
  found->second.last = std::chrono::steady_clock::now();
  found->second.lease = lease;
  BlobFileWriter& file = *found->second.file;
  Status added = file.add(piece);
  if (added && !file.complete()) return false;
  if (added) added = file.finish();
  if (added) added = move_into_place(piece.digest, file);
  // The upload is erased after an error, too: a failed upload starts over.
  uploads.erase(found);
  if (!added) return added.error();
  has_come(piece.digest);
  return true;
}

Result<std::unique_ptr<BlobFileWriter>> BlobStore::Impl::new_file(const Digest& digest,
                                                                  std::uint64_t size) {
  const std::string path = fmt::format("{}/tmp/{}.{}", root, digest.hex(), ++file_count);
  return BlobFileWriter::create(path, digest, size, layout());
}

Status BlobStore::Impl::move_into_place(const Digest& digest, BlobFileWriter& file) {
  const std::string to = is_cache ? whole_of(digest, false) : file_of(digest);
  const std::string folder = to.substr(0, to.rfind('/'));
  const bool is_new_folder = io::disk::mkdir(folder.c_str(), 0700) == 0;
  if (!is_new_folder && errno != EEXIST) return errno_error(errno, "cannot make " + folder);
  if (io::disk::rename(file.path().c_str(), to.c_str()) != 0) {
    return errno_error(errno, fmt::format("cannot move {} to {}", file.path(), to));
  }
  file.moved();
  if (is_cache) {
    has_come_whole(digest);
    return {};
  }
  unsynced_folders.insert(folder);
  if (is_new_folder) unsynced_folders.insert(root);
  return {};
}

void BlobStore::abandon(std::string_view uploader) {
  std::lock_guard guard(impl_->write_mutex);
  std::erase_if(impl_->uploads, [&](const auto& upload) { return upload.first.first == uploader; });
}

void BlobStore::abandon(std::string_view uploader, const Digest& digest) {
  std::lock_guard guard(impl_->write_mutex);
  impl_->uploads.erase({std::string(uploader), digest});
}

Status BlobStore::sync() {
  std::lock_guard one_at_a_time(impl_->sync_mutex);
  TRY(impl_->sync_whole());
  std::set<std::string> folders;
  {
    std::lock_guard guard(impl_->write_mutex);
    if (impl_->broken) return *impl_->broken;
    folders.swap(impl_->unsynced_folders);
  }
  for (auto at = folders.begin(); at != folders.end(); ++at) {
    const auto folder = io::open_file(*at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder && io::disk::fsync(folder->get()) == 0) continue;
    const Error failed =
        folder ? errno_error(errno, "cannot fsync " + *at) : impl_->named(folder.error());
    std::lock_guard guard(impl_->write_mutex);
    if (!folder) {  // nothing was written
      impl_->unsynced_folders.insert(at, folders.end());
      return failed;
    }
    // A second sync would succeed although data was lost, so none is tried.
    impl_->broken =
        make_error(failed.code, failed.message + "; repair the disk and start this program again");
    return *impl_->broken;
  }
  return impl_->packs->sync();
}

std::uint64_t BlobStore::losses() const { return impl_->packs->cut_backs(); }

// Removes a blob from the index. A blob whose bytes do not match its digest counts as missing, and
// trees that need it count as incomplete.
void BlobStore::Impl::forget(const Digest& digest) {
  const auto linked = linked_file(digest);
  (void)remove(digest);
  distrust();
  if (linked && on_damage) on_damage(*linked);
}

void BlobStore::Impl::distrust() {
  std::lock_guard guard(complete_mutex);
  complete.clear();
  ++times_forgot;
}

// ---- reading -----------------------------------------------------------------------------------

Result<BlobPiece> BlobStore::Impl::piece(const Digest& digest, std::uint64_t offset) {
  auto packed = packs->read(digest);
  if (packed) {
    return BlobPiece{digest, packed->raw_size, offset, packed->compressed, std::move(packed->data)};
  }
  if (packed.error().code != ErrorCode::not_found) return packed.error();
  TRY_ASSIGN(const BlobFileReader file, open_file(digest));
  return file.piece(digest, offset);
}

Result<BlobPiece> BlobStore::piece(const Digest& digest, std::uint64_t offset) const {
  const std::optional<std::uint64_t> total = size(digest);
  if (!total) return make_error(ErrorCode::not_found, "no blob " + digest.hex());
  if (offset % kMaxPieceBytes != 0 || offset / kMaxPieceBytes >= pieces_of(*total)) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("blob {}: no piece starts at byte {} of {}", digest.hex(), offset, *total));
  }
  auto piece = impl_->piece(digest, offset);
  if (!piece || !impl_->is_cache || piece->compressed) return piece;
  return make_piece(digest, piece->total_size, offset, piece->data);
}

Status BlobStore::stream(const Digest& digest, const Sink& sink) const {
  Sha256 hash;
  std::uint64_t offset = 0, total = 0;
  do {
    auto piece = impl_->piece(digest, offset);
    Result<std::string> raw = piece ? raw_of(*piece) : Result<std::string>(piece.error());
    if (!raw) {
      if (raw.error().code == ErrorCode::corrupt) impl_->forget(digest);
      return raw.error();
    }
    total = piece->total_size;
    hash.update(*raw);
    TRY(sink(*raw));
    offset += kMaxPieceBytes;
  } while (offset < total);
  if (hash.finish() == digest) return {};
  impl_->forget(digest);
  return make_error(
      ErrorCode::corrupt,
      fmt::format("the stored blob {} was damaged and has been removed", digest.hex()));
}

Result<std::string> BlobStore::get(const Digest& digest, Bytes limit) const {
  std::string all;
  TRY(stream(digest, [&](std::string_view part) -> Status {
    if (all.size() + part.size() > limit.count) {
      return make_error(ErrorCode::resource_exhausted,
                        fmt::format("blob {} is larger than {}", digest.hex(), to_string(limit)));
    }
    all += part;
    return {};
  }));
  return all;
}

// ---- closures ----------------------------------------------------------------------------------

Result<std::vector<Digest>> BlobStore::missing(const std::vector<Digest>& digests, Lease lease,
                                               Asker asker) {
  const auto look = [&] {
    std::vector<Digest> lacking;
    for (const Digest& digest : digests) {
      impl_->touch(digest, lease,
                   // The blobs are touched before the check, so that blobs that are reported as
                   // present stay for a while.
                   asker);
      if (!has(digest)) lacking.push_back(digest);
    }
    return lacking;
  };
  // If no blob is here, nothing has to be made durable. This is common: an upload asks while its
  // pieces arrive.
  std::vector<Digest> lacking = look();
  if (lacking.size() == digests.size()) return lacking;
  TRY(sync());
  return look();
}

}  // namespace lockstep::snapshot
