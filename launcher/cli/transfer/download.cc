#include "launcher/cli/transfer/download.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/downloaded.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/content/disk_usage.h"
#include "common/transfer/transfer.h"
#include "launcher/cli/transfer/download_marks.h"
#include "launcher/cli/transfer/move_tree.h"
#include "launcher/cli/transfer/pieced_files.h"

namespace lockstep::cli {

namespace {

constexpr Duration kSilenceOfLauncher = seconds(30);

// A folder inside the target, so that finished files only need a rename. It is removed with its
// contents, unless the download was interrupted: then the next download of the same job continues
// from there.
class Beginnings {
 public:
  static Result<std::unique_ptr<Beginnings>> make(const std::string& folder,
                                                  const std::string& what,
                                                  const DownloadMarks& marks) {
    TRY(check_target(folder, marks));
    const bool is_new = !io::exists(folder);
    TRY(io::make_directories(folder));
    const bool is_marked =
        !is_new || !marks_target(marks) || snapshot::mark_downloaded(folder, marks.owner);
    const std::string path = folder + "/.lockstep-download-" + what;
    if (io::disk::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return errno_error(errno, "cannot make " + path);
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
      return make_error(ErrorCode::conflict, path + " is not a directory of yours: remove it");
    TRY_ASSIGN(std::optional<io::FileLock> lock, io::FileLock::try_acquire(path + "/lock"));
    if (!lock)
      return make_error(ErrorCode::conflict,
                        fmt::format("another download of {} into {} is running", what, folder));
    TRY(io::remove_tree(path + "/ready"));
    // The folder stays if the download is interrupted.
    if (!marks.owner.empty()) snapshot::mark_downloaded(path, marks.owner);
    return std::unique_ptr<Beginnings>(
        new Beginnings(folder, path, *std::move(lock), is_new, is_marked));
  }
  ~Beginnings() {
    if (!is_kept_) static_cast<void>(io::remove_tree(path_));
    if (is_new_) io::disk::rmdir(folder_.c_str());  // removed if no file came
  }
  Beginnings(const Beginnings&) = delete;
  Beginnings& operator=(const Beginnings&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Marks the finished files; returns the folder of the target that cannot be marked, or "".
  std::string mark(const DownloadMarks& marks) const {
    const auto unmarked = mark_folders(*this / "ready", marks);
    if (!is_marked_) return folder_;
    return unmarked ? folder_ + "/" + *unmarked : "";
  }

  // The error of a download that fails before any file was moved to its place.
  Error broken_off(Error error) {
    error.message += "; nothing in " + folder_ + " was changed";
    const bool may_go_on =
        error.code == ErrorCode::unavailable || error.code == ErrorCode::conflict;
    const auto came = snapshot::disk_usage(*this / "blobs");
    is_kept_ = may_go_on && came && *came > 0;
    if (is_kept_)
      error.message += fmt::format(
          ", and the data received so far ({}) is kept in {}: run the same command again to "
          "continue",
          to_string(Bytes{*came}), path_);
    return error;
  }

 private:
  static bool marks_target(const DownloadMarks& marks) {
    return !marks.owner.empty() && marks.folders.front().empty();
  }
  Beginnings(std::string folder, std::string path, io::FileLock lock, bool is_new, bool is_marked)
      : folder_(std::move(folder)),
        path_(std::move(path)),
        lock_(std::move(lock)),
        is_new_(is_new),
        is_marked_(is_marked) {}
  const std::string folder_, path_;
  const io::FileLock lock_;
  const bool is_new_, is_marked_;
  bool is_kept_ = false;
};

Status fetch(Connection& connection, const JobId& job, const DownloadPlan::Tree& tree,
             snapshot::BlobStore& blobs, const OnText& progress) {
  transfer::TransferOptions options;
  options.give_up_after = kSilenceOfLauncher;
  options.of_job = job;
  std::vector<NodeTree> wanted = tree.from;
  if (tree.base) wanted.push_back({0, *tree.base});
  wanted.insert(wanted.end(), tree.pieces.begin(), tree.pieces.end());
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  for (const NodeTree& from : wanted) {
    auto fetched = transfer::download_tree(
        *bulk, from.root, blobs,
        [&](const transfer::Progress& done) {
          progress(fmt::format("{}: {} of {}", tree.to.path, to_string(Bytes{done.done_bytes}),
                               to_string(Bytes{done.total_bytes})));
        },
        options);
    if (!fetched) return fetched.error().within("cannot fetch " + tree.to.path);
  }
  return {};
}

// Counts the files that are written: the same file from several nodes counts once.
Status count(const Digest& folder, const snapshot::BlobStore& blobs, DownloadedTree& tree) {
  TRY_ASSIGN(const std::string bytes, blobs.get(folder, Bytes{snapshot::kMaxDirectoryObjectBytes}));
  TRY_ASSIGN(const snapshot::Directory directory, snapshot::decode_directory(bytes));
  for (const snapshot::Entry& entry : directory.entries) {
    if (entry.kind == snapshot::EntryKind::directory) TRY(count(entry.digest, blobs, tree));
    if (entry.kind != snapshot::EntryKind::file) continue;
    ++tree.files;
    tree.size.count += entry.size;
  }
  return {};
}

// The umask of this process: downloaded files get the modes of its files, not the ranks' modes,
// which may be open to everybody.
std::uint32_t own_umask() {
  const mode_t now = ::umask(077);
  ::umask(now);
  return now;
}

// Downloads everything that is wanted into `begun`/ready.
Result<Downloaded> make_ready(Connection& connection, const JobId& job, DownloadPlan& plan,
                              const Beginnings& begun, const OnText& progress) {
  Downloaded done;
  done.attempt = plan.attempt;
  TRY(io::make_directories(begun / "ready"));
  if (!plan.trees.empty()) {
    TRY_ASSIGN(const std::unique_ptr<snapshot::BlobStore> blobs,
               snapshot::BlobStore::open(begun / "blobs"));
    for (DownloadPlan::Tree& tree : plan.trees) {
      TRY(fetch(connection, job, tree, *blobs, progress));
      TRY(join_pieces(tree, *blobs));
      TRY_ASSIGN(const Digest root, merge_tree(tree, *blobs));
      const std::string path = begun / ("ready/" + tree.to.path);
      TRY(io::make_directories(path.substr(0, path.rfind('/'))));
      snapshot::MaterializeOptions options;
      options.umask = plan.modes == Modes::exact ? 0 : own_umask();
      TRY(snapshot::materialize(*blobs, root, path, options));
      TRY(count(root, *blobs, tree.to));
      done.trees.push_back(std::move(tree.to));
    }
  }
  if (plan.logs) {
    progress("logs");
    const std::string path = begun / "ready/artifacts/user_logs";
    TRY(io::make_directories(path));
    TRY_ASSIGN(done.logs, download_logs(connection, job, plan.attempt, path));
  }
  return done;
}

}  // namespace

Result<Digest> merge_tree(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs) {
  snapshot::DirectoryObjects objects;
  objects.read = [&](const Digest& digest) {
    return blobs.get(digest, Bytes{snapshot::kMaxDirectoryObjectBytes});
  };
  objects.write = [&](const Digest& digest, const std::string& bytes) {
    return blobs.put(digest, bytes);
  };
  if (tree.to.kind == OutputKind::checkpoint)
    return snapshot::merge_checkpoints(tree.base, tree.from, objects);
  return snapshot::merge_trees(tree.from, objects, tree.to.beside);
}

namespace {

Result<Downloaded> download(Connection& connection, const JobId& job, const std::string& what,
                            const DownloadMarks& marks, DownloadPlan plan,
                            const std::string& folder, const OnText& progress) {
  TRY_ASSIGN(const std::unique_ptr<Beginnings> begun, Beginnings::make(folder, what, marks));
  auto done = make_ready(connection, job, plan, *begun, progress);
  if (!done) return begun->broken_off(done.error());
  if (done->trees.empty() && done->logs.empty()) return done;
  done->unmarked = begun->mark(marks);
  const Status moved = move_tree(*begun / "ready", folder);
  if (moved) return done;
  return moved.error().code == ErrorCode::conflict ? begun->broken_off(moved.error())
                                                   : moved.error();
}

}  // namespace

Result<Downloaded> download_job(Connection& connection, const JobId& job, const std::string& owner,
                                DownloadPlan plan, const std::string& folder,
                                const OnText& progress) {
  return download(connection, job, job.value, marks_of_job(owner), std::move(plan), folder,
                  progress);
}

Result<Downloaded> download_asset(Connection& connection, const RegisteredAsset& asset,
                                  const std::string& folder, const OnText& progress, Modes modes) {
  DownloadPlan plan;
  plan.modes = modes;
  DownloadPlan::Tree& tree = plan.trees.emplace_back();
  tree.to.kind = OutputKind::named;
  tree.to.name = tree.to.path = asset.name;
  tree.from.push_back({0, *asset.tree});
  const std::string what =
      fmt::format("{}-{}-{}", to_string(kind_of(asset)), asset.name, asset.version);
  const DownloadMarks marks = modes == Modes::exact ? DownloadMarks{} : marks_of_asset(asset);
  return download(connection, JobId(), what, marks, std::move(plan), folder, progress);
}

}  // namespace lockstep::cli
