#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <set>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/snapshot/materialize.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kBootFile = "boot";
constexpr std::string_view kBuilding = "building-";

std::string name_of(const Digest& root, const MaterializeOptions& options) {
  if (options.for_all) return root.hex() + ".all";
  const Owner& owner = options.owner;
  const bool is_ours = owner.uid == current_owner().uid;
  return is_ours ? root.hex() : fmt::format("{}.{}", root.hex(), owner.uid);
}

// The folder's time of change says when the tree was used last. False: it is not there.
bool touch(const std::string& path) {
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

struct TreeCache::Impl {
  std::string folder;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> building;
  std::uint64_t builds = 0;

  Result<std::string> build(const BlobStore& blobs, const Digest& root, const std::string& path,
                            const MaterializeOptions& options);
};

TreeCache::TreeCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TreeCache::~TreeCache() = default;

Result<std::unique_ptr<TreeCache>> TreeCache::open(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  // Closed to others: trees of different users lie in it, and nobody may change one.
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
    // When another's build failed, one of those who waited tries again.
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

Result<std::vector<TreeCache::Tree>> TreeCache::list() const {
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(impl_->folder));
  std::vector<Tree> trees;
  for (const std::string& name : names) {
    const auto root = Digest::from_hex(name.substr(0, name.find('.')));
    const std::string path = fmt::format("{}/{}", impl_->folder, name);
    struct stat info {};
    if (!root || ::lstat(path.c_str(), &info) != 0) continue;
    trees.push_back({path, *root, {info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec}});
  }
  return trees;
}

// Out of the way first, under the lock under which it would be found.
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
  {
    std::lock_guard guard(mutex);
    beside = fmt::format("{}/{}{}-{}", folder, kBuilding, ::getpid(), ++builds);
  }
  TRY(io::remove_tree(beside));
  Status done = materialize(blobs, root, beside, options);
  if (done) (void)touch(beside);
  if (done && io::disk::rename(beside.c_str(), path.c_str()) != 0) {
    done = errno_error(errno, fmt::format("cannot move {} to {}", beside, path));
  }
  if (done) return path;
  static_cast<void>(io::remove_tree(beside));
  return done.error();
}

}  // namespace lockstep::snapshot
