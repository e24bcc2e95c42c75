// The files of a store that is a cache: each blob is one whole file (BlobStore::Mode::cache).

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/io/disk.h"
#include "common/io/process.h"
#include "common/snapshot/content/blob_store_impl.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kVerifiedAtOnce = 1u << 20;

// The identity of a file, without the time of change of names and modes, since links are made and
// removed.
FileIdentity identity_of(const struct stat& info) {
  FileIdentity file;
  file.device = info.st_dev;
  file.inode = info.st_ino;
  file.size = static_cast<std::uint64_t>(info.st_size);
  file.mtime_ns = info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
  return file;
}

std::optional<FileIdentity> identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return identity_of(info);
}

Error not_here(const Digest& digest) {
  return make_error(ErrorCode::not_found, "no blob " + digest.hex());
}

}  // namespace

// Opens a cache. If the machine stopped before a file was synced, the file may have any content.
Status BlobStore::Impl::open_cache() {
  const std::string path = root + "/boot";
  const std::string boot = io::current_boot().value;
  const auto written_in = io::read_file(path);
  const bool is_same = written_in && *written_in == boot;
  TRY_ASSIGN(const std::vector<std::string> folders, io::list_directory(root));
  for (const std::string& folder : folders) {
    if (folder.size() != 2) continue;
    TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(root + "/" + folder));
    for (const std::string& name : names) {
      const bool is_synced = name.ends_with(kWhole);
      const auto digest = Digest::from_hex(folder + name.substr(0, name.find('.')));
      if (!digest || (!is_synced && !name.ends_with(kFresh))) continue;
      if (is_synced || is_same)
        whole[*digest] = {is_synced, {}};
      else
        io::disk::unlink(fmt::format("{}/{}/{}", root, folder, name).c_str());
    }
  }
  return is_same ? Status() : io::write_file_atomically(path, boot, 0600);
}

bool BlobStore::Impl::has_whole(const Digest& digest) {
  if (!is_cache) return false;
  std::lock_guard guard(whole_mutex);
  return whole.count(digest) != 0;
}

void BlobStore::Impl::has_come_whole(const Digest& digest) {
  std::lock_guard guard(whole_mutex);
  struct stat info {};
  const bool is_there = ::stat(whole_of(digest, false).c_str(), &info) == 0;
  whole[digest] = {false, {}};
  if (is_there) whole[digest].verified = identity_of(info);
}

std::optional<FileIdentity> BlobStore::Impl::linked_file(const Digest& digest) {
  std::lock_guard guard(whole_mutex);
  const auto found = whole.find(digest);
  if (found == whole.end()) return std::nullopt;
  struct stat info {};
  const std::string path = whole_of(digest, found->second.is_synced);
  if (::stat(path.c_str(), &info) != 0 || info.st_nlink < 2) return std::nullopt;
  return identity_of(info);
}

void BlobStore::on_damage(std::function<void(const FileIdentity&)> then) {
  impl_->on_damage = std::move(then);
}

// Returns the disk space that is freed: none for a file that a tree has too.
std::uint64_t BlobStore::Impl::remove_whole(const Digest& digest) {
  std::lock_guard guard(whole_mutex);
  const auto found = whole.find(digest);
  if (found == whole.end()) return 0;
  const std::string path = whole_of(digest, found->second.is_synced);
  struct stat info {};
  const bool is_alone = ::stat(path.c_str(), &info) == 0 && info.st_nlink == 1;
  if (io::disk::unlink(path.c_str()) != 0 && errno != ENOENT) return 0;
  whole.erase(found);
  return is_alone ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

Status BlobStore::Impl::sync_whole() {
  std::vector<Digest> open;
  {
    std::lock_guard guard(whole_mutex);
    for (const auto& [digest, file] : whole)
      if (!file.is_synced) open.push_back(digest);
  }
  for (const Digest& digest : open) TRY(sync_whole(digest));
  return {};
}

Status BlobStore::Impl::sync_whole(const Digest& digest) {
  const std::string path = whole_of(digest, false);
  const io::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return {};  // the file was removed
  if (io::disk::fdatasync(fd.get()) != 0) {
    const int error = errno;
    forget(digest);
    return errno_error(error, "cannot fdatasync " + path);
  }
  std::lock_guard guard(whole_mutex);
  const auto found = whole.find(digest);
  struct stat synced {
  }, named{};
  const bool is_that = found != whole.end() && ::fstat(fd.get(), &synced) == 0 &&
                       ::stat(path.c_str(), &named) == 0 && synced.st_ino == named.st_ino;
  if (!is_that) return {};  // the file was removed, and another one may have its name
  if (io::disk::rename(path.c_str(), whole_of(digest, true).c_str()) != 0)
    return errno_error(errno, "cannot rename " + path);
  found->second.is_synced = true;
  return {};
}

Result<BlobFileReader> BlobStore::Impl::open_whole(const Digest& digest) {
  std::lock_guard guard(whole_mutex);
  const auto found = whole.find(digest);
  if (found == whole.end()) return not_here(digest);
  auto file = BlobFileReader::open(whole_of(digest, found->second.is_synced), BlobLayout::whole);
  if (file || file.error().code != ErrorCode::not_found) return file;
  whole.erase(found);  // another process removed it
  return not_here(digest);
}

Result<BlobFileReader> BlobStore::Impl::open_file(const Digest& digest) {
  if (has_whole(digest)) return open_whole(digest);
  auto file = BlobFileReader::open(file_of(digest));
  if (!file && file.error().code == ErrorCode::not_found) return not_here(digest);
  return file;
}

// Verifies a blob. An ordinary write changes the file's time, so its damage is found here. Other
// damage is found when the blob is read through stream(), or by the next process.
Status BlobStore::Impl::verify(const Digest& digest, const BlobFileReader& file) {
  const auto now = identity_of(file.fd());
  {
    std::lock_guard guard(whole_mutex);
    const auto found = whole.find(digest);
    if (now && found != whole.end() && found->second.verified == now) return {};
  }
  Sha256 hash;
  std::string part;
  for (std::uint64_t at = 0; at < file.total_size(); at += part.size()) {
    part.resize(std::min<std::uint64_t>(kVerifiedAtOnce, file.total_size() - at));
    TRY(read_exactly_at(file.fd(), at, part.data(), part.size(), file_of(digest)));
    hash.update(part);
  }
  if (hash.finish() != digest) {
    forget(digest);
    return make_error(
        ErrorCode::corrupt,
        fmt::format("the stored blob {} was damaged and has been removed", digest.hex()));
  }
  std::lock_guard guard(whole_mutex);
  if (const auto found = whole.find(digest); found != whole.end()) found->second.verified = now;
  return {};
}

Result<bool> BlobStore::link(const Digest& digest, int folder, const std::string& name,
                             std::uint32_t mode) const {
  if (!impl_->has_whole(digest)) return false;
  const auto file = impl_->open_whole(digest);
  if (!file) return file.error();
  TRY(impl_->verify(digest, *file));
  std::lock_guard guard(impl_->whole_mutex);
  struct stat info {};
  if (::fstat(file->fd(), &info) != 0) return errno_error(errno, "cannot stat a cached file");
  const bool has_mode = (info.st_mode & 07777) == mode;
  if (!has_mode && info.st_nlink > 1) return false;
  if (!has_mode && io::disk::fchmod(file->fd(), mode) != 0)
    return errno_error(errno, "cannot set the mode of the cached file " + digest.hex());
  return io::disk::link_open_file(file->fd(), folder, name.c_str()) == 0;
}

}  // namespace lockstep::snapshot
