#include "agent/daemon/staging/share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::agent {
namespace {

// Uploads of packages get pieces under this name alone, so halves of two files never mix.
constexpr std::string_view kUploader = "packages";

// A tree of the files alone. It is the same on every node that has the same lock.
Result<Digest> put_tree(const std::vector<PackageFile>& files, snapshot::BlobStore& store) {
  snapshot::Directory directory;
  for (const PackageFile& file : files)
    directory.entries.push_back(
        {file.digest.hex(), snapshot::EntryKind::file, 0644, file.size, file.digest, ""});
  const std::string bytes = snapshot::encode(directory);
  const Digest root = sha256(bytes);
  TRY(store.put(root, bytes));
  store.lease(root);  // no tree of the cache refers to the blobs, so a lease keeps them
  return root;
}

// Reads a file from a folder into which a user may put anything, so only bytes with the expected
// digest are taken.
Status take_file(const std::string& path, const PackageFile& file, snapshot::BlobStore& store) {
  const io::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return errno_error(errno, "cannot open " + path);
  if (!S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) != file.size)
    return make_error(
        ErrorCode::corrupt,
        fmt::format("{} is not a regular file of {} bytes, as the lock says", path, file.size));
  std::string part(kMaxPieceBytes, '\0');
  for (std::uint64_t at = 0; at < file.size; at += kMaxPieceBytes) {
    const auto length = static_cast<std::size_t>(snapshot::piece_length(file.size, at));
    TRY(snapshot::read_exactly_at(fd.get(), at, part.data(), length, path));
    const auto piece = snapshot::make_piece(file.digest, file.size, at, {part.data(), length});
    if (const auto put = store.put_piece(piece, kUploader); !put) return put.error();
  }
  if (store.has(file.digest)) return {};
  return make_error(ErrorCode::corrupt, fmt::format("the contents of {} do not match the digest {}",
                                                    path, file.digest.hex()));
}

Status write_file(const Digest& file, const std::string& path, const snapshot::BlobStore& store) {
  if (io::exists(path)) return {};
  const std::string beside = path + ".part";
  {
    const io::Fd fd(io::disk::open(beside.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!fd) return errno_error(errno, "cannot make " + beside);
    TRY(store.stream(file, [&](std::string_view part) { return io::write_all(fd.get(), part); }));
  }
  if (io::disk::rename(beside.c_str(), path.c_str()) != 0)
    return errno_error(errno, "cannot rename " + beside);
  return {};
}

}  // namespace

ShareFunctions share_functions(std::shared_ptr<Workspace> workspace,
                               std::shared_ptr<LauncherBlobs> blobs) {
  ShareFunctions functions;
  functions.fetch = [workspace, blobs](const Digest& lock, const std::vector<PackageFile>& files,
                                       const std::set<Digest>& wanted, transfer::Origin& origin,
                                       const transfer::OnProgress& progress) -> Status {
    TRY_ASSIGN(const Digest root, put_tree(files, workspace->blobs()));
    return blobs->fetch_files(root, lock, wanted, workspace->blobs(), origin, progress);
  };
  functions.take = [workspace](const std::string& path, const PackageFile& file) {
    return take_file(path, file, workspace->blobs());
  };
  functions.write = [workspace](const Digest& file, const std::string& path) {
    return write_file(file, path, workspace->blobs());
  };
  return functions;
}

}  // namespace lockstep::agent
