#include "launcher/cli/download.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <memory>

#include "common/io/file_system.h"
#include "common/snapshot/blob_store.h"
#include "common/snapshot/materialize.h"
#include "common/transfer/transfer.h"
#include "launcher/cli/move_tree.h"

namespace lockstep::cli {

namespace {

// A folder in the target, so that finished files only need a rename; removed with all in it.
class Beginnings {
 public:
  static Result<std::unique_ptr<Beginnings>> make(const std::string& folder) {
    TRY(io::make_directories(folder));
    std::string path = folder + "/.lockstep-download-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      return errno_error(errno, "cannot make a folder in " + folder);
    return std::unique_ptr<Beginnings>(new Beginnings(std::move(path)));
  }
  ~Beginnings() { static_cast<void>(io::remove_tree(path_)); }
  Beginnings(const Beginnings&) = delete;
  Beginnings& operator=(const Beginnings&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit Beginnings(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

Status fetch(Connection& connection, const DownloadPlan::Tree& tree, snapshot::BlobStore& blobs,
             const OnText& progress) {
  std::vector<NodeTree> wanted = tree.from;
  if (tree.base) wanted.push_back({0, *tree.base});
  for (const NodeTree& from : wanted) {
    auto fetched = transfer::download_tree(
        connection.bulk(), from.root, blobs, [&](const transfer::Progress& done) {
          progress(fmt::format("{}: {} of {}", tree.to.path, to_string(Bytes{done.done_bytes}),
                               to_string(Bytes{done.total_bytes})));
        });
    if (!fetched) return fetched.error().within("cannot fetch " + tree.to.path);
  }
  return {};
}

Result<Digest> merge(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs) {
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

// What is really written: the same file of several nodes counts once.
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

}  // namespace

Result<Downloaded> download_job(Connection& connection, const JobId& job, DownloadPlan plan,
                                const std::string& folder, const OnText& progress) {
  Downloaded done;
  done.attempt = plan.attempt;
  TRY_ASSIGN(const std::unique_ptr<Beginnings> begun, Beginnings::make(folder));
  TRY(io::make_directories(*begun / "ready"));
  if (!plan.trees.empty()) {
    TRY_ASSIGN(const std::unique_ptr<snapshot::BlobStore> blobs,
               snapshot::BlobStore::open(*begun / "blobs"));
    for (DownloadPlan::Tree& tree : plan.trees) {
      TRY(fetch(connection, tree, *blobs, progress));
      TRY_ASSIGN(const Digest root, merge(tree, *blobs));
      const std::string path = *begun / ("ready/" + tree.to.path);
      TRY(io::make_directories(path.substr(0, path.rfind('/'))));
      TRY(snapshot::materialize(*blobs, root, path));
      TRY(count(root, *blobs, tree.to));
      done.trees.push_back(std::move(tree.to));
    }
  }
  if (plan.logs) {
    progress("logs");
    const std::string path = *begun / "ready/artifacts/user_logs";
    TRY(io::make_directories(path));
    TRY_ASSIGN(done.logs, download_logs(connection, job, plan.attempt, path));
  }
  if (done.trees.empty() && done.logs.empty()) return done;
  TRY(move_tree(*begun / "ready", folder));
  return done;
}

}  // namespace lockstep::cli
