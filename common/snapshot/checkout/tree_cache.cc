#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kBootFile = "boot";
constexpr std::string_view kBuilding = "building-";
constexpr std::string_view kForAll = ".all", kDamaged = ".damaged-";  // suffixes of names

std::string name_of(const Digest& root, const MaterializeOptions& options) {
  if (options.for_all) return root.hex() + std::string(kForAll);
  const Owner& owner = options.owner;
  const bool is_ours = owner.uid == current_owner().uid;
  return is_ours ? root.hex() : fmt::format("{}.{}", root.hex(), owner.uid);
}

// Notes in the folder's modification time that the tree is used now. False: the folder is missing.
bool touch(const std::string& path) {
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

bool is_file(const std::filesystem::directory_entry& entry, const FileIdentity& file) {
  struct stat info {};
  return ::lstat(entry.path().c_str(), &info) == 0 && info.st_dev == file.device &&
         info.st_ino == file.inode;
}

// A tree that cannot be read may have the file.
bool has_file(const std::string& tree, const FileIdentity& file) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(tree, failed), end; !failed && it != end;
       it.increment(failed))
    if (is_file(*it, file)) return true;
  return static_cast<bool>(failed);
}

}  // namespace

struct TreeCache::Impl {
  std::string folder;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> building;
  std::uint64_t builds = 0;
  std::vector<FileIdentity> damaged;  // every file for which set_aside() was called

  Result<std::string> build(const BlobStore& blobs, const Digest& root, const std::string& path,
                            const MaterializeOptions& options);
  Status put_there(const std::string& beside, const std::string& path, std::size_t first);
};

TreeCache::TreeCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TreeCache::~TreeCache() = default;

Result<std::unique_ptr<TreeCache>> TreeCache::open(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  // Closed to other accounts: the folder has trees of several users, and nobody may change one.
  TRY(io::make_directories(folder, 0700));
  const std::string boot_path = fmt::format("{}/{}", folder, kBootFile);
  const std::string boot = io::current_boot().value;
  const auto written_in = io::read_file(boot_path);
  const bool same_boot = written_in && *written_in == boot;
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(folder));
  for (const std::string& name : names) {
    if (name == kBootFile || (same_boot && !name.starts_with(kBuilding))) continue;
    TRY(io::remove_tree(fmt::format("{}/{}", folder, name)));
  }
  if (!same_boot) TRY(io::write_file_atomically(boot_path, boot, 0600));
  return std::unique_ptr<TreeCache>(new TreeCache(std::move(impl)));
}

std::string TreeCache::find(const Digest& root, const MaterializeOptions& options) const {
  const std::string path = fmt::format("{}/{}", impl_->folder, name_of(root, options));
  std::lock_guard guard(impl_->mutex);
  return touch(path) ? path : "";
}

Result<std::string> TreeCache::get(const BlobStore& blobs, const Digest& root,
                                   const MaterializeOptions& options) {
  const std::string path = fmt::format("{}/{}", impl_->folder, name_of(root, options));
  std::unique_lock lock(impl_->mutex);
  for (;;) {
    if (touch(path)) return path;
    // When a build by another thread failed, one of those that waited tries again.
    if (impl_->building.insert(path).second) break;
    impl_->changed.wait(lock, [&] { return impl_->building.count(path) == 0; });
  }
  lock.unlock();
  auto built = impl_->build(blobs, root, path, options);
  lock.lock();
  impl_->building.erase(path);
  impl_->changed.notify_all();
  return built;
}

std::vector<std::string> TreeCache::set_aside(const FileIdentity& file) {
  std::vector<std::string> gone;
  std::lock_guard guard(impl_->mutex);
  impl_->damaged.push_back(file);
  const auto names = io::list_directory(impl_->folder);
  if (!names) return gone;
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", impl_->folder, name);
    if (!name.ends_with(kForAll) || !has_file(path, file)) continue;
    const std::string aside = fmt::format("{}{}{}-{}", path, kDamaged, ::getpid(), ++impl_->builds);
    if (io::disk::rename(path.c_str(), aside.c_str()) != 0) continue;
    const timespec never[] = {{0, 0}, {0, 0}};  // the oldest time, so that it is removed first
    (void)::utimensat(AT_FDCWD, aside.c_str(), never, AT_SYMLINK_NOFOLLOW);
    gone.push_back(path);
  }
  return gone;
}

Result<std::vector<TreeCache::Tree>> TreeCache::list() const {
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(impl_->folder));
  std::vector<Tree> trees;
  for (const std::string& name : names) {
    const auto root = Digest::from_hex(name.substr(0, name.find('.')));
    const std::string path = fmt::format("{}/{}", impl_->folder, name);
    struct stat info {};
    if (!root || ::lstat(path.c_str(), &info) != 0) continue;
    const std::string found_as = path.substr(0, path.rfind(kDamaged));
    trees.push_back(
        {path, found_as, *root, {info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec}});
  }
  return trees;
}

// Renamed first, under the lock that protects finding it.
Result<bool> TreeCache::remove_unless_used(const Tree& tree, Duration in_use_for) {
  std::string beside;
  {
    std::lock_guard guard(impl_->mutex);
    struct stat info {};
    if (::lstat(tree.path.c_str(), &info) != 0) return false;
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const Duration unused =
        seconds(now.tv_sec - info.st_mtim.tv_sec) + Duration(now.tv_nsec - info.st_mtim.tv_nsec);
    if (unused < in_use_for) return false;
    beside = fmt::format("{}/{}{}-{}", impl_->folder, kBuilding, ::getpid(), ++impl_->builds);
    if (io::disk::rename(tree.path.c_str(), beside.c_str()) != 0) {
      return errno_error(errno, fmt::format("cannot move {} to {}", tree.path, beside));
    }
  }
  TRY(io::remove_tree(beside));
  return true;
}

Result<std::string> TreeCache::Impl::build(const BlobStore& blobs, const Digest& root,
                                           const std::string& path,
                                           const MaterializeOptions& options) {
  std::string beside;
  std::size_t damaged_before = 0;
  {
    std::lock_guard guard(mutex);
    beside = fmt::format("{}/{}{}-{}", folder, kBuilding, ::getpid(), ++builds);
    damaged_before = damaged.size();
  }
  TRY(io::remove_tree(beside));
  Status done = materialize(blobs, root, beside, options);
  if (done) (void)touch(beside);
  if (done) done = put_there(beside, path, options.for_all ? damaged_before : SIZE_MAX);
  if (done) return path;
  static_cast<void>(io::remove_tree(beside));
  return done.error();
}

// `first`: the first of the damaged files that the tree may have.
Status TreeCache::Impl::put_there(const std::string& beside, const std::string& path,
                                  std::size_t first) {
  std::lock_guard guard(mutex);
  for (std::size_t i = first; i < damaged.size(); ++i)
    if (has_file(beside, damaged[i]))
      return make_error(ErrorCode::corrupt, "a blob of the tree was found damaged");
  if (io::disk::rename(beside.c_str(), path.c_str()) == 0) return {};
  return errno_error(errno, fmt::format("cannot move {} to {}", beside, path));
}

}  // namespace lockstep::snapshot
